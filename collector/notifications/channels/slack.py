"""Sends to a Slack incoming webhook, or a compatible one (Mattermost, Rocket.Chat)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from annotated_types import MaxLen, Predicate

from collector.history.core.phase import Phase
from collector.notifications.channels._http import ProviderRequest, accepted, post
from collector.notifications.channels._policy import PATIENT
from collector.notifications.channels._secrets import parts
from collector.notifications.channels.message import Message, Sent
from collector.notifications.channels.texts import MessageText, Templates, write
from collector.notifications.core.retry import RetryPolicy
from collector.notifications.core.summary import Notice
from collector.platform.plain_text import cut, lines
from collector.platform.transport import Transport
from shared.kinds.fields import ErrorText, Secret
from shared.kinds.http import is_url

_COLOURS = {
    Phase.PROBLEM: "#c0392b",
    Phase.TAKEN: "#d68910",
    Phase.OVER: "#1e8449",
    Phase.NEWS: "#2471a3",
}
_MAX_TEXT = 3_000
_MAX_FIELD = 2_000
_MAX_FIELDS = 10
_MAX_URL = 3_000
_MEMBER = re.compile(r"[UW][A-Z0-9]{5,20}")
_GROUP = re.compile(r"S[A-Z0-9]{5,20}")
_ALL = frozenset({"here", "channel", "everyone"})
_WORD = re.compile(r"[a-z_]{3,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slack:
    """*channel* works only if the webhook permits channels besides its own; *mentions*: ids, or ``@here``."""

    webhook_url: Annotated[
        str,
        MaxLen(8192),
        Predicate(is_url),
        ErrorText("must be an http:// or https:// URL with a host"),
        Secret(),
    ]
    """URL of the incoming webhook. A secret: masked for read-only tokens."""
    channel: Annotated[str | None, MaxLen(100)] = None
    """Channel that is posted to, if the webhook permits another than its own."""
    mentions: Annotated[list[Annotated[str, MaxLen(100)]], MaxLen(50)] = field(default_factory=list)
    """Ids of users and groups that are mentioned, or `@here`."""
    templates: Templates | None = None
    """The team's own texts, used instead of the built-in ones."""

    @property
    def policy(self) -> RetryPolicy:
        return PATIENT

    def render(self, message: Message) -> tuple[ProviderRequest, MessageText]:
        notice = message.notice
        text = write(notice, self.templates)
        heading = f"*{_linked(text.title, notice.link)}*"
        mentioned = " ".join(map(_mention, self.mentions)) if notice.phase is Phase.PROBLEM else ""
        body: dict[str, Any] = {
            "text": f"{mentioned} {heading}".strip(),
            "attachments": [{"color": _COLOURS[notice.phase], "blocks": list(_blocks(notice, text))}],
            "unfurl_links": False,
        }
        if not body["attachments"][0]["blocks"]:
            del body["attachments"]
        if self.channel:
            body["channel"] = self.channel
        return ProviderRequest(self.webhook_url, body), text

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:  # noqa: ARG002 - the common signature
        """Post the message to the webhook. Raises Undelivered."""
        call, text = self.render(message)
        answer = accepted(await post(call, transport), secrets=parts(self.webhook_url), reason=_reason)
        return Sent(answer.status, text.fault)


def _blocks(notice: Notice, text: MessageText) -> Iterator[dict[str, Any]]:
    if body := lines(text.body):
        yield {"type": "section", "text": _mrkdwn(_escaped(body, _MAX_TEXT))}
    if notice.facts and not text.own:
        facts = notice.facts[:_MAX_FIELDS]
        yield {
            "type": "section",
            "fields": [
                _mrkdwn(f"*{label}*\n{_escaped(lines(value), _MAX_FIELD - len(label) - 3)}")
                for label, value in facts
            ],
        }


def _mrkdwn(text: str) -> dict[str, str]:
    return {"type": "mrkdwn", "text": text}


def _linked(title: str, link: str) -> str:
    shown = _escaped(title, _MAX_TEXT)
    if not link or len(link) > _MAX_URL or any(letter in link for letter in "<>| "):
        return shown
    return f"<{link}|{shown.replace('|', '¦')}>"


def _escaped(text: str, most: int) -> str:
    """Apply Slack's three escapes and truncate to *most* characters without splitting an entity."""
    whole = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if len(whole) <= most:
        return whole
    kept = whole[: most - 1]
    start = kept.rfind("&")
    return (kept[:start] if start >= 0 and ";" not in kept[start:] else kept).rstrip() + "…"


def _mention(text: str) -> str:
    """Slack's syntax for ``@here``, ``U012AB3CD``, ``<@U012AB3CD>``, ``S012AB3CD``; other text as it is."""
    word = text.strip("<>@! ").removeprefix("subteam^")
    if word.lower() in _ALL:
        return f"<!{word.lower()}>"
    if _MEMBER.fullmatch(word):
        return f"<@{word}>"
    return f"<!subteam^{word}>" if _GROUP.fullmatch(word) else _escaped(cut(text, 100), 300)


def _reason(answer: Any) -> str:
    """Slack's error code, a single word such as ``channel_is_archived``."""
    return answer if isinstance(answer, str) and _WORD.fullmatch(answer) else ""
