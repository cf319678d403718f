"""Sends alerts to Opsgenie, or a compatible API (Jira Service Management, by another `apiUrl`)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from annotated_types import MaxLen, MinLen, Predicate

from collector.events.core.kinds import EventKind
from collector.history.core.phase import Phase
from collector.notifications.channels._http import ApiUrl, ProviderRequest, accepted, is_key, post
from collector.notifications.channels._policy import PATIENT
from collector.notifications.channels.message import Message, Sent
from collector.notifications.channels.texts import MessageText, Templates, write
from collector.notifications.core.retry import RetryPolicy
from collector.notifications.core.summary import Notice
from collector.platform.plain_text import cut, lines
from collector.platform.transport import Transport
from shared.kinds.fields import ErrorText, Secret

_PRIORITIES = {"critical": "P1", "high": "P2", "medium": "P3", "low": "P4"}
_NOTED = EventKind.INCIDENT_NOTE_ADDED
_MAX_MESSAGE = 130
_MAX_ALIAS = 512
_MAX_DESCRIPTION = 15_000
_MAX_DETAILS = 8_000
_MAX_DETAIL = 1_000
_MAX_NOTE = 25_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Opsgenie:
    """*priority*: priority of every alert; None: derived from the incident's severity."""

    api_key: Annotated[
        str,
        MinLen(1),
        MaxLen(500),
        Predicate(is_key),
        ErrorText("must be the key of an API integration"),
        Secret(),
    ]
    """Key of the API integration. A secret: masked for read-only tokens."""
    priority: Literal["P1", "P2", "P3", "P4", "P5"] | None = None
    """Priority of every alert; by default it follows the incident's severity."""
    api_url: ApiUrl = "https://api.opsgenie.com"
    """Base URL of the service's API."""
    templates: Templates | None = None
    """The team's own texts, used instead of the built-in ones."""

    @property
    def policy(self) -> RetryPolicy:
        return PATIENT

    def render(self, message: Message) -> tuple[ProviderRequest, MessageText]:
        notice = message.notice
        text = write(notice, self.templates)
        alias = cut(notice.key, _MAX_ALIAS)
        path, body = f"/{quote(alias, safe='')}", self._follow_up(text)
        if notice.phase is Phase.TAKEN:
            path += "/acknowledge?identifierType=alias"
        elif notice.phase is Phase.OVER:
            path += "/close?identifierType=alias"
        elif notice.kind == _NOTED:
            path += "/notes?identifierType=alias"
        else:
            path, body = "", self._alert(notice, text, alias)
        headers = {"Authorization": f"GenieKey {self.api_key}"}
        return ProviderRequest(
            f"{self.api_url.rstrip('/').removesuffix('/v2/alerts')}/v2/alerts{path}", body, headers
        ), text

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:  # noqa: ARG002 - the common signature
        """Create or close the alert. Raises Undelivered."""
        call, text = self.render(message)
        answer = accepted(
            await post(call, transport),
            secrets=[self.api_key],
            reason=lambda answer: answer["message"],
        )
        return Sent(answer.status, text.fault)

    def _follow_up(self, text: MessageText) -> dict[str, Any]:
        written = "\n".join(filter(None, (text.title, lines(text.body))))
        return {"note": cut(written, _MAX_NOTE), "source": "Tocsin"}

    def _alert(self, notice: Notice, text: MessageText, alias: str) -> dict[str, Any]:
        written = "\n\n".join(filter(None, (lines(text.body), notice.link)))
        priority = "P5" if notice.phase is Phase.NEWS else _PRIORITIES[notice.severity]
        return {
            "message": cut(text.title, _MAX_MESSAGE),
            "alias": alias,
            "description": cut(written, _MAX_DESCRIPTION),
            "entity": cut(lines(notice.source), _MAX_ALIAS),
            "source": "Tocsin",
            "priority": self.priority or priority,
            "details": _details(notice),
        }


def _details(notice: Notice) -> dict[str, str]:
    """As many facts as fit."""
    found, room = {}, _MAX_DETAILS
    for label, value in (*notice.facts, ("Link", notice.link)):
        shown = cut(lines(value), _MAX_DETAIL)
        room -= len(label) + len(shown)
        if shown and room >= 0:
            found[label] = shown
    return found
