"""Sends to PagerDuty: alerts by the Events API v2, other news as change events."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from annotated_types import MaxLen, MinLen, Predicate

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

_ACTIONS = {Phase.PROBLEM: "trigger", Phase.TAKEN: "acknowledge", Phase.OVER: "resolve"}
_SEVERITIES = {"critical": "critical", "high": "error", "medium": "warning", "low": "info"}
_ENDINGS = ("/v2/enqueue", "/")
_MAX_SUMMARY = 1_024
_MAX_DETAIL = 10_000
_MAX_KEY = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class PagerDuty:
    """*severity*: of every alert, instead of the incident's own; PagerDuty's names, or ours."""

    integration_key: Annotated[
        str, MinLen(1), MaxLen(255), Predicate(is_key), ErrorText("must be an integration key"), Secret()
    ]
    """Integration key of the service (Events API v2). A secret: masked for read-only tokens."""
    severity: Literal["critical", "error", "warning", "info", "high", "medium", "low"] | None = None
    """Severity of every alert; by default the incident's own."""
    api_url: ApiUrl = "https://events.pagerduty.com"
    """Base URL of the service's API."""
    templates: Templates | None = None
    """The team's own texts, used instead of the built-in ones."""

    @property
    def policy(self) -> RetryPolicy:
        return PATIENT

    def render(self, message: Message) -> tuple[ProviderRequest, MessageText]:
        notice = message.notice
        text = write(notice, self.templates)
        action = _ACTIONS.get(notice.phase)
        body: dict[str, Any] = {"routing_key": self.integration_key}
        if action is not None:
            body |= {"event_action": action, "dedup_key": cut(notice.key, _MAX_KEY), "client": "Tocsin"}
        if action in (None, "trigger"):
            body["payload"] = self._payload(notice, text)
        if notice.link and action in (None, "trigger"):
            body["links"] = [{"href": notice.link, "text": "In Tocsin"}]
        if notice.link and action is not None:
            body["client_url"] = notice.link
        path = "/v2/change/enqueue" if action is None else "/v2/enqueue"
        return ProviderRequest(_base(self.api_url) + path, body), text

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:  # noqa: ARG002 - the common signature
        """Send the alert event. Raises Undelivered."""
        call, text = self.render(message)
        answer = accepted(await post(call, transport), secrets=[self.integration_key], reason=_reason)
        return Sent(answer.status, text.fault)

    def _payload(self, notice: Notice, text: MessageText) -> dict[str, Any]:
        details = {label: cut(lines(value), _MAX_DETAIL) for label, value in notice.facts}
        if text.body:
            details = {"Message": cut(lines(text.body), _MAX_DETAIL), **details}
        payload: dict[str, Any] = {
            "summary": cut(text.title, _MAX_SUMMARY),
            "source": cut(lines(notice.source), _MAX_KEY),
            "custom_details": details,
        }
        if notice.at:
            payload["timestamp"] = notice.at
        if notice.phase is Phase.PROBLEM:
            wanted = self.severity or notice.severity
            payload["severity"] = _SEVERITIES.get(wanted, wanted)
            payload["class"] = notice.kind
        return payload


def _base(url: str) -> str:
    """The base URL; the path of the enqueue call is accepted and removed."""
    for ending in _ENDINGS:
        url = url.removesuffix(ending)
    return url


def _reason(answer: Any) -> str:
    errors = answer.get("errors")
    return ": ".join(map(str, [answer["message"], *(errors if isinstance(errors, list) else [])]))
