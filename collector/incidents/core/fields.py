"""What a caller may say of an incident, with bounds and defaults."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen, MinLen, Predicate

from collector.platform.monitor import MonitorId, Severity, has_ink
from shared.kinds.fields import Says

Title = Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), Says("must not be blank")]
Text = Annotated[str, MaxLen(10_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIncident:
    """One that a person raises, about a monitor or about none."""

    title: Title
    description: Text = ""
    severity: Severity = "medium"
    monitor_id: MonitorId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """None leaves a field as it is."""

    title: Title | None = None
    description: Text | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What was done about it."""

    resolution_note: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenRequest:
    """Why it is not over."""

    reason: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNote:
    """A remark of whoever works on it."""

    text: Annotated[
        str,
        MinLen(1),
        MaxLen(10_000),
        Predicate(has_ink),
        Says("must be 1 to 10000 characters, not all blank"),
    ]
