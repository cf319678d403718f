"""Responses of the API about maintenance windows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.platform.answers import Example, Identifier, MonitorId, Revision, Warnings

Local = Annotated[str, Example("2026-12-01T02:00:00")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A span of time in which a window is under way."""

    start: datetime
    """First moment."""
    end: datetime
    """Last moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowAnswer:
    """Planned work, during which nobody is notified."""

    id: Annotated[str, Identifier("mw")]
    """Id of the window."""
    name: Annotated[str, Example("Database upgrade")]
    """Name of the window."""
    description: Annotated[str, Example("")]
    """Text for people; empty without one."""
    monitors: list[MonitorId]
    """Ids of the monitors that are under maintenance."""
    tags: dict[str, str] | list[str]
    """Tags of the monitors that are under maintenance."""
    all: Annotated[bool, Example(False)]
    """Whether all monitors of the team are under maintenance."""
    start: datetime
    """First moment of the first occurrence."""
    end: datetime | None
    """Last moment of the first occurrence."""
    duration: Annotated[int, Example(7200)] | None
    """Length of an occurrence in seconds."""
    timezone: Annotated[str, Example("UTC")]
    """IANA time zone of local times and of the recurrence."""
    rrule: Annotated[str, Example("FREQ=WEEKLY;BYDAY=TU")] | None
    """Recurrence rule (RFC 5545); null for a window that occurs once."""
    exdates: list[Annotated[str, Example("2026-12-08")]]
    """Dates on which the window does not occur."""
    enabled: bool
    """Whether the window holds notifications back."""
    local_start: Local
    """First moment of the first occurrence, by the clocks of `timezone`."""
    status: Annotated[str, Example("scheduled")]
    """Whether it is under way, still to come or over."""
    until: datetime | None
    """When it ends that is under way; null where it is not."""
    next_start: datetime | None
    """Begin of the next occurrence."""
    next_end: datetime | None
    """End of the next occurrence."""
    occurrences: list[Occurrence]
    """The present occurrence and the next ones."""
    revision: Revision
    """Number of its present version, as in the ETag."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    warnings: Warnings = None
    """What was ignored of the request, and what its owner should know."""
