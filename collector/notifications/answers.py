"""Responses of the API about alert channels and deliveries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from collector.platform.answers import ChannelId, EventId, Example, Identifier, Omitted, Revision, Warnings

Name = Annotated[str, Example("ops")]
DeliveryState = Literal["pending", "delivered", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelDetails:
    """A notification channel."""

    id: ChannelId
    """Id of the channel."""
    name: Name
    """Name of the channel."""
    enabled: bool
    """Whether anything is sent through it."""
    for_new_monitors: Annotated[bool, Example(False)]
    """Whether the console proposes it for new monitors."""
    flagged: bool
    """Whether it has failed for so long that its team was notified."""
    failing_since: datetime | None
    """Time of the first of the latest consecutive failed attempts; null if the channel works."""
    last_error: Annotated[str, Example("answered 500")] | None
    """Error of the last failed attempt."""
    revision: Revision
    """Current revision number, as in the ETag."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    unconfirmed: Annotated[list[Annotated[str, Example("name@example.com")]] | None, Omitted()] = None
    """Email addresses that receive nothing until they confirm; omitted if there are none."""
    warnings: Warnings = None
    """Ignored parts of the request, and notes for the channel's owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelAnswer(ChannelDetails):
    """A notification channel with its type and its configuration, which the type defines."""

    type: str
    """Type of the channel."""
    config: Mapping[str, Any]
    """Where it sends, and how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedChannel:
    """A newly created channel."""

    id: ChannelId
    """Id of the channel."""
    name: Name
    """Name of the channel."""
    type: Annotated[str, Example("webhook")]
    """Type of the channel."""
    enabled: bool
    """Whether anything is sent through it."""
    warnings: Warnings = None
    """Ignored parts of the request, and notes for the channel's owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedChannel:
    """The result of a channel test."""

    success: bool
    """Whether the message was delivered."""
    message: Annotated[str, Example("answered 200")]
    """Human-readable result."""
    delivered_at: datetime | None
    """When it was delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAttemptAnswer:
    """An attempt to deliver an event."""

    at: datetime
    """When it was made."""
    status_code: Annotated[int, Example(200)] | None
    """HTTP status of the response; null without one."""
    latency_ms: Annotated[int, Example(52)] | None
    """Duration in milliseconds."""
    error: Annotated[str, Example("answered 500")] | None
    """Why it failed."""
    note: Annotated[str | None, Example("the built-in text was sent"), Omitted()] = None
    """Additional remark about the attempt; omitted if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAnswer:
    """The delivery of an event through a channel."""

    id: Annotated[str, Identifier("dlv")]
    """Id of the delivery."""
    event: Annotated[str, Example("monitor.down")]
    """Kind of the event."""
    event_id: EventId
    """Id of the event."""
    status: DeliveryState
    """Whether it is still attempted, was delivered or has failed permanently."""
    created_at: datetime
    """When it was created."""
    next_attempt_at: datetime | None
    """Time of the next attempt; null if none follows."""
    attempts: list[DeliveryAttemptAnswer]
    """All attempts, oldest first."""
