"""Sends a message to a chat by a Telegram bot."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from annotated_types import MaxLen, MinLen, Predicate

from collector.history.core.phase import Phase
from collector.notifications.channels._http import (
    ApiUrl,
    ProviderRequest,
    accepted,
    is_key,
    number,
    post,
    read,
)
from collector.notifications.channels._policy import PATIENT
from collector.notifications.channels.message import Message, Sent
from collector.notifications.channels.texts import MessageText, Templates, write
from collector.notifications.core.retry import RetryPolicy
from collector.platform.plain_text import cut_utf16, lines
from collector.platform.transport import Transport
from shared.kinds.fields import ErrorText, Secret

_MARKS = {
    Phase.PROBLEM: "\N{LARGE RED CIRCLE}",
    Phase.TAKEN: "\N{LARGE ORANGE CIRCLE}",
    Phase.OVER: "\N{LARGE GREEN CIRCLE}",
    Phase.NEWS: "\N{LARGE BLUE CIRCLE}",
}
# Of the 4,096 characters that a message may have after its markup is removed.
_MAX_TITLE = 500
_MAX_BODY = 2_000
_MAX_FACTS = 1_400
_MAX_VALUE = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Telegram:
    bot_token: Annotated[
        str, MinLen(1), MaxLen(500), Predicate(is_key), ErrorText("must be the token of a bot"), Secret()
    ]
    """Token of the bot. A secret: masked for read-only tokens."""
    chat_id: Annotated[
        Annotated[str, MinLen(1), MaxLen(100)] | int,
        ErrorText("must be the id of a chat: a string or a number"),
    ]
    """Id of the chat that is posted to."""
    api_url: ApiUrl = "https://api.telegram.org"
    """Base URL of the service's API."""
    templates: Templates | None = None
    """The team's own texts, used instead of the built-in ones."""

    @property
    def policy(self) -> RetryPolicy:
        return PATIENT

    def render(self, message: Message) -> tuple[ProviderRequest, MessageText]:
        notice = message.notice
        text = write(notice, self.templates)
        title = f"{_MARKS[notice.phase]} <b>{_escaped(text.title, _MAX_TITLE)}</b>"
        facts = "" if text.own else "\n".join(f"{label}: {value}" for label, value in _short(notice.facts))
        parts = [
            title,
            _escaped(lines(text.body), _MAX_BODY),
            _escaped(facts, _MAX_FACTS),
            _link(notice.link),
        ]
        body = {
            "chat_id": self.chat_id,
            "text": "\n\n".join(part for part in parts if part),
            "parse_mode": "HTML",
            "link_preview_options": {"is_disabled": True},
            "disable_notification": notice.phase is Phase.NEWS,
        }
        return ProviderRequest(f"{self.api_url.rstrip('/')}/bot{self.bot_token}/sendMessage", body), text

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:  # noqa: ARG002 - the common signature
        """Post to the chat, or to its new id if the group became a supergroup. Raises Undelivered."""
        call, text = self.render(message)
        answer = await post(call, transport)
        if (moved := _moved(read(answer))) is not None:
            answer = await post(replace(call, body={**call.body, "chat_id": moved}), transport)
        accepted(
            answer,
            secrets=[self.bot_token, *self.bot_token.split(":")],
            reason=lambda answer: answer["description"],
            retry_after=lambda answer: number(answer["parameters"]["retry_after"]),
        )
        note = None if moved is None else f"the chat is now {moved}: change chatId"
        return Sent(answer.status, "; ".join(filter(None, (note, text.fault))) or None)


def _moved(answer: Any) -> int | None:
    try:
        moved = answer["parameters"]["migrate_to_chat_id"]
    except (LookupError, TypeError):
        return None
    return moved if isinstance(moved, int) else None


def _short(facts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(label, cut_utf16(lines(value), _MAX_VALUE)) for label, value in facts]


def _escaped(text: str, most: int) -> str:
    return html.escape(cut_utf16(text, most), quote=False)


def _link(link: str) -> str:
    return f'<a href="{html.escape(link)}">{html.escape(link)}</a>' if link else ""
