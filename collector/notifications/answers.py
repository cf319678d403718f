"""Responses of the API about alert channels and deliveries."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from collector.platform.answers import ChannelId, EventId, Example, Identifier, Omitted, Revision, Warnings

Name = Annotated[str, Example("ops")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelDetails:
    """Where notifications go."""

    id: ChannelId
    """Id of the channel."""
    name: Name
    """Name of the channel."""
    enabled: bool
    """Whether anything is sent through it."""
    flagged: bool
    """Whether it has failed for so long that its team was notified."""
    failing_since: datetime | None
    """First failed attempt of those that failed in a row; null where it works."""
    last_error: Annotated[str, Example("answered 500")] | None
    """Error of the last failed attempt."""
    revision: Revision
    """Number of its present version, as in the ETag."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    unconfirmed: Annotated[list[Annotated[str, Example("name@example.com")]] | None, Omitted()] = None
    """Mail addresses that are sent nothing before they confirm; there where there are any."""
    warnings: Warnings = None
    """What was ignored of the request, and what its owner should know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedChannel:
    """A channel that was created."""

    id: ChannelId
    """Id of the channel."""
    name: Name
    """Name of the channel."""
    type: Annotated[str, Example("webhook")]
    """Type of the channel."""
    enabled: bool
    """Whether anything is sent through it."""
    warnings: Warnings = None
    """What was ignored of the request, and what its owner should know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedChannel:
    """How the test of a channel ended."""

    success: bool
    """Whether the message was delivered."""
    message: Annotated[str, Example("answered 200")]
    """How it ended, for people."""
    delivered_at: datetime | None
    """When it was delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAttemptAnswer:
    """An attempt to deliver an event."""

    at: datetime
    """When it was made."""
    status_code: Annotated[int, Example(200)] | None
    """HTTP status of the answer; null without one."""
    latency_ms: Annotated[int, Example(52)] | None
    """Duration in milliseconds."""
    error: Annotated[str, Example("answered 500")] | None
    """Why it failed."""
    note: Annotated[str | None, Example("the built-in text was sent"), Omitted()] = None
    """What else is to be known of it; there where there is anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAnswer:
    """An event on its way through a channel."""

    id: Annotated[str, Identifier("dlv")]
    """Id of the delivery."""
    event: Annotated[str, Example("monitor.down")]
    """Kind of the event."""
    event_id: EventId
    """Id of the event."""
    status: Literal["pending", "delivered", "failed"]
    """Whether it is still attempted, was delivered or has failed for good."""
    created_at: datetime
    """When it was created."""
    next_attempt_at: datetime | None
    """When it is attempted next; null where no attempt follows."""
    attempts: list[DeliveryAttemptAnswer]
    """Its attempts, oldest first."""
