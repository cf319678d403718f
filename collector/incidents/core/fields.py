"""Fields of an incident as callers set them, with bounds and defaults."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen, MinLen, Predicate

from collector.platform.monitor import MonitorId, Severity, has_ink
from shared.kinds.fields import ErrorText

Title = Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), ErrorText("must not be blank")]
Text = Annotated[str, MaxLen(10_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIncident:
    """An incident that a user raises, with or without a monitor."""

    title: Title
    """Title, 1 to 255 characters."""
    description: Text = ""
    """Text for people."""
    severity: Severity = "medium"
    """Severity of the incident."""
    monitor_id: MonitorId | None = None
    """Id of the monitor that it is about, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes to an incident; None leaves a field as it is."""

    title: Title | None = None
    """New title, 1 to 255 characters."""
    description: Text | None = None
    """New text for people."""
    severity: Severity | None = None
    """New severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How the incident was resolved."""

    resolution_note: Text | None = None
    """What was done about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenRequest:
    """Why the incident is reopened."""

    reason: Text = ""
    """Why it is reopened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNote:
    """A note by a user who works on the incident."""

    text: Annotated[
        str,
        MinLen(1),
        MaxLen(10_000),
        Predicate(has_ink),
        ErrorText("must be 1 to 10000 characters, not all blank"),
    ]
    """Text of the note, 1 to 10,000 characters."""
