"""Responses of the API about service level objectives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.platform.answers import Example, Identifier, MonitorId, Revision, Warnings
from collector.slos.core.settings import Combine, Indicator, Period

Sli = Annotated[float, Example(99.95)]
Seconds = Annotated[float, Example(2592.0)]
Percent = Annotated[float, Example(12.5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBudget:
    """The time that may be bad in the period; bad checks count as their share of the known time."""

    total_seconds: Seconds
    """Seconds of the whole period that may be bad, without maintenance, pauses and unknown time."""
    used_seconds: Annotated[float, Example(324.0)]
    """Seconds that were bad."""
    remaining_seconds: Annotated[float, Example(2268.0)]
    """Seconds that are left; 0 if more was used."""
    used_percent: Percent
    """Used share of the budget in percent; may exceed 100."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnRate:
    """How fast the budget is used in a window and in its last twelfth; at 1 it lasts exactly the period."""

    hours: Annotated[int, Example(6)]
    """Length of the long window in hours."""
    factor: Annotated[float, Example(6.0)]
    """Limit of both burn rates, by the SRE workbook."""
    long_window: Annotated[float, Example(0.8)]
    """Burn rate of the long window."""
    short_window: Annotated[float, Example(0.0)]
    """Burn rate of its last twelfth."""
    exceeded: Annotated[bool, Example(False)]
    """Whether both are at or above the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SloMonitorState:
    """The numbers of one monitor of an SLO."""

    monitor_id: MonitorId
    """Id of the monitor."""
    monitor_name: Annotated[str, Example("shop")]
    """Name of the monitor."""
    sli: Sli | None
    """Good share in percent; null if nothing was measured."""
    used_percent: Percent
    """Share in percent of the budget that it would have used alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SloStateAnswer:
    """What an SLO measured in its period, and what is left of its budget."""

    from_: datetime
    """Start of the period."""
    to: datetime | None
    """End of a calendar period; null for a rolling one, which ends now."""
    sli: Sli | None
    """Good share in percent; null if nothing was measured."""
    met: Annotated[bool, Example(True)] | None
    """Whether the good share is at least the target; null if nothing was measured."""
    known_seconds: Annotated[float, Example(2_592_000.0)]
    """Known seconds of the period, as uptime counts them."""
    budget: ErrorBudget
    """The error budget."""
    burn_rates: Sequence[BurnRate]
    """Burn rates, the shortest window first."""
    exhausted_at: datetime | None
    """When the budget is used up if it goes on as in the last day; null if it lasts."""
    counted_threshold_ms: Annotated[int, Example(510)] | None
    """Longest response time in milliseconds that counts as fast; null unless the indicator is `latency`."""
    monitors: Sequence[SloMonitorState]
    """Its monitors by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SloAnswer:
    """A service level objective with its present state."""

    id: Annotated[str, Identifier("slo")]
    """Id of the SLO."""
    name: Annotated[str, Example("Checkout")]
    """Name of the SLO."""
    description: Annotated[str, Example("")]
    """Human-readable description; may be empty."""
    target: Annotated[float, Example(99.9)]
    """Share of time or checks that must be good, in percent."""
    period: Period
    """Days of a rolling period, or a calendar period."""
    timezone: Annotated[str, Example("UTC")]
    """IANA time zone in which a calendar period begins."""
    indicator: Indicator
    """What is good."""
    monitors: list[MonitorId]
    """Ids of its monitors."""
    groups: Sequence[Annotated[str, Example("shop")]]
    """Groups of its monitors."""
    tags: Mapping[str, str] | Sequence[str]
    """Tags of its monitors."""
    combine: Combine
    """Whether one bad monitor suffices, or the target holds for each."""
    state: SloStateAnswer
    """Numbers of its period."""
    revision: Revision
    """Number of its present version, as in the ETag."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    warnings: Warnings = None
    """What was ignored of the request, and warnings about the SLO."""
