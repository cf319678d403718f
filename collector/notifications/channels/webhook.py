"""Sends a signed HTTP callback to the customer's endpoint."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from annotated_types import Interval, MaxLen, Predicate

from collector.events.core.kinds import DELIVERED
from collector.events.core.subscriptions import matches
from collector.notifications.channels.message import Message, Sent
from collector.notifications.core import signature
from collector.notifications.core.retry import RetryPolicy
from collector.platform.delivery import Undelivered
from collector.platform.monitor import MonitorId
from collector.platform.transport import NoAnswer, Transport
from shared import __version__
from shared.kinds.fields import ErrorText, Secret
from shared.kinds.http import is_url

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
# A channel may not set headers that frame the message or belong to the connection.
_FRAMING = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)

# Headers that a receiver relies on: a signature header of the same name would overwrite them.
_OURS = frozenset(
    {
        "content-type",
        "user-agent",
        "x-service-event",
        "x-service-delivery",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    }
)


def is_header_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and text.lower() not in _FRAMING


def is_free_name(text: str) -> bool:
    return is_header_name(text) and text.lower() not in _OURS


def is_event(text: str) -> bool:
    return any(matches(text, kind) for kind in DELIVERED)


def are_headers(headers: dict[str, str]) -> bool:
    return all(is_header_name(name) and not _CONTROLS.search(value) for name, value in headers.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """*timeout* in seconds; no *events* (kinds, or ``web3.*``) means the default ones, no *monitors* all.

    *previous_signing_secret* signs beside the new one until every receiver knows that.
    """

    url: Annotated[
        str,
        MaxLen(8192),
        Predicate(is_url),
        ErrorText("must be an http:// or https:// URL with a host"),
        Secret(),
    ]
    """URL that events are sent to. A secret: masked for read-only tokens."""
    method: Literal["POST", "PUT", "PATCH", "GET"] = "POST"
    """Method of the request."""
    headers: Annotated[
        dict[str, str],
        MaxLen(100),
        Predicate(are_headers),
        ErrorText("names must be header names, values without control characters; Host and framing are ours"),
        Secret(),
    ] = field(default_factory=dict)
    """Headers that are sent in addition to the service's own, by name. Secret: their values are masked for
    read-only tokens.
    """
    timeout: Annotated[int, Interval(ge=1, le=60)] = 30
    """Timeout of an attempt in seconds."""
    retry_on_failure: bool = True
    """Whether a failed delivery is attempted again."""
    max_retries: Annotated[int, Interval(ge=0, le=10)] = 3
    """Number of retries after the first attempt."""
    signature_header: Annotated[
        str,
        MaxLen(256),
        Predicate(is_free_name),
        ErrorText("must be the name of a header that is not ours already"),
    ] = "X-Service-Signature"
    """Name of the header that carries the HMAC-SHA256 of the body."""
    signing_secret: Annotated[str | None, MaxLen(4096), Secret()] = None
    """Signing key; without it nothing is signed. A secret: masked for read-only tokens."""
    previous_signing_secret: Annotated[str | None, MaxLen(4096), Secret()] = None
    """Previous signing key, used in addition until every receiver knows the new one. A secret: masked for
    read-only tokens.
    """
    events: Annotated[
        list[Annotated[str, Predicate(is_event), ErrorText("is no kind of event")]], MaxLen(100)
    ] = field(default_factory=list)
    """Kinds of events that are sent, or patterns such as `web3.*`; empty: `monitor.down`, `monitor.up` and
    `web3.*`.
    """
    monitors: Annotated[list[MonitorId], MaxLen(10_000)] = field(default_factory=list)
    """Ids of the monitors whose events are sent; empty: all."""

    @property
    def policy(self) -> RetryPolicy:
        return RetryPolicy(retry=self.retry_on_failure, max_retries=self.max_retries)

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:
        """Send the event. Raises Undelivered, never as a permanent failure."""
        headers = self._headers(message, round(now.timestamp()))
        try:
            answer = await transport.request(
                self.method, self.url, headers, message.body, timeout_s=self.timeout
            )
        except NoAnswer as error:
            raise Undelivered(str(error)) from None
        if not 200 <= answer.status < 300:
            raise Undelivered(
                f"answered {answer.status}", status=answer.status, retry_after_s=answer.retry_after_s
            )
        return Sent(answer.status)

    def _secrets(self) -> list[str]:
        """The current secret first; a previous one is ignored without it."""
        if not self.signing_secret:
            return []
        return [self.signing_secret, *filter(None, [self.previous_signing_secret])]

    def _headers(self, message: Message, timestamp: int) -> dict[str, str]:
        """The request's headers; channels may override content type and user agent, but no ids."""
        headers = {
            "content-type": ("Content-Type", "application/json"),
            "user-agent": ("User-Agent", f"Tocsin/{__version__}"),
        }
        ours = {
            "X-Service-Event": message.kind,
            "X-Service-Delivery": message.delivery,
            "webhook-id": message.id,
            "webhook-timestamp": str(timestamp),
        }
        secrets = self._secrets()
        if secrets:
            ours["webhook-signature"] = " ".join(
                signature.standard(secret, message.id, timestamp, message.body) for secret in secrets
            )
        for name, secret in zip(
            (self.signature_header, f"{self.signature_header}-Previous"), secrets, strict=False
        ):
            ours[name] = signature.hex_hmac(secret, message.body)
        for name, value in {**self.headers, **ours}.items():
            headers[name.lower()] = (name, value)
        return dict(headers.values())
