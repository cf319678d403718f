"""Sends an embed to a Discord webhook."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

from annotated_types import MaxLen, Predicate

from collector.history.core.phase import Phase
from collector.notifications.channels._http import ProviderRequest, accepted, number, post
from collector.notifications.channels._policy import PATIENT
from collector.notifications.channels._secrets import parts
from collector.notifications.channels.message import Message, Sent
from collector.notifications.channels.texts import MessageText, Templates, write
from collector.notifications.core.retry import RetryPolicy
from collector.notifications.core.summary import Notice
from collector.platform.plain_text import cut_utf16, lines
from collector.platform.transport import Transport
from shared.kinds.fields import ErrorText, Secret
from shared.kinds.http import is_url

_COLOURS = {Phase.PROBLEM: 0xC0392B, Phase.TAKEN: 0xD68910, Phase.OVER: 0x1E8449, Phase.NEWS: 0x2471A3}
_MAX_TITLE = 256
_MAX_BODY = 2_500
_MAX_LABEL = 256
_MAX_VALUE = 1_024
_MAX_ALL = 5_900
_MAX_URL = 2_048
_MAX_FIELDS = 25
_MARKDOWN = re.compile(r"([\\*_~`|>#\[\]@<])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Discord:
    webhook_url: Annotated[
        str,
        MaxLen(8192),
        Predicate(is_url),
        ErrorText("must be an http:// or https:// URL with a host"),
        Secret(),
    ]
    """URL of the incoming webhook. A secret: masked for read-only tokens."""
    templates: Templates | None = None
    """The team's own texts, used instead of the built-in ones."""

    @property
    def policy(self) -> RetryPolicy:
        return PATIENT

    def render(self, message: Message) -> tuple[ProviderRequest, MessageText]:
        notice = message.notice
        text = write(notice, self.templates)
        embed: dict[str, Any] = {
            "title": _escaped(text.title, _MAX_TITLE),
            "description": _escaped(lines(text.body), _MAX_BODY),
            "color": _COLOURS[notice.phase],
        }
        if notice.at:
            embed["timestamp"] = notice.at
        if notice.link and len(notice.link) <= _MAX_URL:
            embed["url"] = notice.link
        if not text.own:
            spent = len(embed["title"]) + len(embed["description"])
            embed["fields"] = _fields(notice, _MAX_ALL - spent)
        body = {"embeds": [embed], "allowed_mentions": {"parse": []}}
        return ProviderRequest(_waiting(self.webhook_url), body), text

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:  # noqa: ARG002 - the common signature
        """Post the message to the webhook. Raises Undelivered."""
        call, text = self.render(message)
        answer = accepted(
            await post(call, transport),
            secrets=parts(self.webhook_url),
            reason=lambda answer: answer["message"],
            retry_after=lambda answer: number(answer["retry_after"]),
        )
        return Sent(answer.status, text.fault)


def _fields(notice: Notice, room: int) -> list[dict[str, Any]]:
    """As many facts as fit: Discord limits the total length of an embed."""
    found: list[dict[str, Any]] = []
    for label, value in notice.facts[:_MAX_FIELDS]:
        shown = {"name": _escaped(label, _MAX_LABEL), "value": _escaped(lines(value), _MAX_VALUE) or "-"}
        room -= 2 * (len(shown["name"]) + len(shown["value"]))
        if room < 0:
            break
        found.append({**shown, "inline": len(value) <= 40})
    return found


def _escaped(text: str, most: int) -> str:
    """Escape Discord's markup and truncate to *most* characters without splitting an escape."""
    whole = _MARKDOWN.sub(r"\\\1", text)
    shown = cut_utf16(whole, most)
    return shown if shown == whole else shown[:-1].rstrip("\\") + "…"


def _waiting(url: str) -> str:
    """Add the parameter that makes Discord answer after the message was created, not merely accepted."""
    split = urlsplit(url)
    if "wait=" in split.query:
        return url
    return urlunsplit(split._replace(query=f"{split.query}&wait=true".lstrip("&")))
