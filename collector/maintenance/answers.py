"""Responses of the API about maintenance windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.platform.answers import Example, Identifier, MonitorId, Revision, Warnings

Local = Annotated[str, Example("2026-12-01T02:00:00")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A time span in which a window is in force."""

    start: datetime
    """Start time."""
    end: datetime
    """End time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowAnswer:
    """A maintenance window; during it nobody is notified."""

    id: Annotated[str, Identifier("mw")]
    """Id of the window."""
    name: Annotated[str, Example("Database upgrade")]
    """Name of the window."""
    description: Annotated[str, Example("")]
    """Human-readable description; may be empty."""
    monitors: list[MonitorId]
    """Ids of the monitors under maintenance."""
    tags: Mapping[str, str] | Sequence[str]
    """Tags of the monitors under maintenance."""
    all: Annotated[bool, Example(False)]
    """Whether all monitors of the team are under maintenance."""
    start: datetime
    """Start of the first occurrence."""
    end: datetime | None
    """End of the first occurrence."""
    duration: Annotated[int, Example(7200)] | None
    """Length of an occurrence in seconds."""
    timezone: Annotated[str, Example("UTC")]
    """IANA time zone of local times and of the recurrence."""
    rrule: Annotated[str, Example("FREQ=WEEKLY;BYDAY=TU")] | None
    """Recurrence rule (RFC 5545); null for a window that occurs once."""
    exdates: list[Annotated[str, Example("2026-12-08")]]
    """Dates on which the window does not occur."""
    enabled: bool
    """Whether the window suppresses notifications."""
    local_start: Local
    """Start of the first occurrence in the local time of `timezone`."""
    status: Annotated[str, Example("scheduled")]
    """Whether it is in force, still to come or over."""
    until: datetime | None
    """End of the current occurrence; null if there is none."""
    next_start: datetime | None
    """Start of the next occurrence."""
    next_end: datetime | None
    """End of the next occurrence."""
    occurrences: list[Occurrence]
    """The current occurrence and the next ones."""
    revision: Revision
    """Current revision number, as in the ETag."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    warnings: Warnings = None
    """Ignored parts of the request, and notes for the window's owner."""
