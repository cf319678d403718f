"""Settings that all monitors have, with bounds and defaults, and how changes are merged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from shared import ids
from shared.kinds.fields import ErrorText, NumericText
from shared.kinds.http import is_url

Severity = Literal["critical", "high", "medium", "low"]
Shown = Literal["up", "down", "paused"]

DEFAULT_INTERVAL = 60
# The location of monitors while there are no probes yet.
DEFAULT_LOCATION = "local"
_SLUG = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


def is_slug(text: str) -> bool:
    return 0 < len(text) <= 63 and not text.startswith("-") and _SLUG.issuperset(text)


def has_ink(text: str) -> bool:
    return bool(text.strip())


def are_tags(tags: dict[str, str]) -> bool:
    return all(0 < len(name) <= 64 for name in tags)


def is_monitor_id(text: str) -> bool:
    return ids.read("mon", text) is not None


MonitorId = Annotated[str, Predicate(is_monitor_id), ErrorText("must be the id of a monitor")]
Slug = Annotated[
    str,
    Predicate(is_slug),
    ErrorText("must be 1 to 63 of a-z, 0-9 and -, and start with a letter or digit"),
]
Tags = Annotated[
    dict[str, Annotated[str, MaxLen(255)]],
    MaxLen(100),
    Predicate(are_tags),
    ErrorText("names must be 1 to 64 characters long"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSettings:
    """Settings that monitors of all types have."""

    name: Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), ErrorText("must not be blank")]
    """Name of the monitor, 1 to 255 characters."""
    interval: Annotated[int, Interval(ge=1, le=86_400)] = DEFAULT_INTERVAL
    """Seconds between two checks; the operator may have set a higher minimum."""
    timeout: Annotated[int, Interval(ge=1, le=120)] = 10
    """Timeout of a check in seconds."""
    locations: Annotated[list[Slug], MinLen(1), MaxLen(100)] | None = None
    """Locations that check it; by default every location that has a probe."""
    tags: Tags = field(default_factory=dict)
    """Tags by name, each with a value that may be empty."""
    description: Annotated[str, MaxLen(10_000)] = ""
    """Human-readable description."""
    severity: Severity = "critical"
    """Severity of the incidents that the monitor raises."""
    failure_threshold: Annotated[int, Interval(ge=1, le=100)] = 3
    """Failed checks in a row after which a location votes down."""
    recovery_threshold: Annotated[int, Interval(ge=1, le=100)] = 1
    """Successful checks in a row after which a location votes up again."""
    quorum: Annotated[
        Literal["majority", "any", "all"] | Annotated[int, Interval(ge=1, le=1000)],
        NumericText(),
        ErrorText("must be majority, any, all or a number of locations"),
    ] = "majority"
    """Locations that must vote down for the monitor to be down: `majority`, `any`, `all` or a number."""
    group: Annotated[str, MaxLen(255)] | None = None
    """Name of the group that the monitor is listed under."""
    depends_on: Annotated[list[MonitorId], MaxLen(100)] = field(default_factory=list)
    """Ids of the monitors that this one depends on; while one of them is down, its incidents are not
    announced.
    """
    runbook_url: (
        Annotated[str, MaxLen(8192), Predicate(is_url), ErrorText("must be an http or https URL")] | None
    ) = None
    """URL of the runbook for its incidents."""


# The columns that checks or their evaluation depend on: a change of them is sent to the probes.
RUN_BY: Final = frozenset(
    {"config", "secrets", "interval_s", "timeout_s", "locations", "failure_threshold", "recovery_threshold"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A pause of a monitor's notifications."""

    duration: Annotated[int, Interval(ge=1, le=2_592_000)]
    """Seconds until notifications resume, up to 30 days."""
    reason: Annotated[str, MaxLen(1000)] | None = None
    """Reason, for later readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How a test is run."""

    timeout: Annotated[int, Interval(ge=1, le=120)] = 10
    """Timeout of the check in seconds."""
    locations: Annotated[list[Slug], MinLen(1), MaxLen(100)] | None = None
    """Locations of which one runs the check; by default any."""


def merge(current: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """JSON merge patch (RFC 7396): objects merge, other values are replaced, null removes."""
    merged = dict(current)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            below = merged.get(name)
            merged[name] = merge(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def status(*, paused_at: datetime | None, down: bool, last_at: datetime | None) -> Shown:
    """The displayed status; a resumed monitor is up until its first result, whatever it was before."""
    if paused_at is not None:
        return "paused"
    return "down" if down and last_at is not None else "up"
