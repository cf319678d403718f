"""The content of a report, as it is computed once, stored, and shown in each format."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from collector.platform.answers import Example, IncidentId, MonitorId

Milliseconds = Annotated[int, Example(3_600_000)]
Percent = Annotated[float, Example(99.953)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting:
    """How a time was spent: up, down, maintenance, paused and unknown add up to the period."""

    period_ms: Milliseconds
    """Length of the time; a monitor's first day shortens it."""
    up_ms: Milliseconds
    """Time that is known, and in no outage."""
    down_ms: Milliseconds
    """Time that is known, and in an outage."""
    maintenance_ms: Milliseconds
    """Time under maintenance, which counts on neither side."""
    paused_ms: Milliseconds
    """Time in which the monitor was paused."""
    unknown_ms: Milliseconds
    """Time for which no result speaks."""
    uptime: Percent | None
    """Share of up in up and down, in percent, rounded down to 3 decimals; null if both are 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMonitorLine:
    """The numbers of one monitor."""

    id: MonitorId
    """Id of the monitor."""
    name: Annotated[str, Example("Shop")]
    """Name of the monitor at that time."""
    time: Accounting
    """How the period was spent."""
    business: Accounting | None
    """How the business hours in the period were spent; null if the report has none."""
    uptime_before: Percent | None
    """Uptime in the period before; null if nothing was measured."""
    met: bool | None
    """Whether the uptime reaches the target, within business hours if the report has them."""
    incidents: Annotated[int, Example(2)]
    """Number of incidents that started in the period."""
    outages: Annotated[int, Example(2)]
    """Number of outages that touch the period."""
    longest_ms: Milliseconds
    """Length of the longest outage, as far as it lies in the period."""
    checks: Annotated[int, Example(43_200)]
    """Number of checks."""
    p50_ms: Annotated[float, Example(120.0)] | None
    """Median response time of good checks."""
    p95_ms: Annotated[float, Example(240.0)] | None
    """95th percentile of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportIncidentLine:
    """An incident that started in the period."""

    id: IncidentId
    """Id of the incident."""
    title: Annotated[str, Example("Shop is down")]
    """Title of the incident."""
    monitor_name: Annotated[str, Example("Shop")] | None
    """Name of its monitor; null for an incident that a person raised."""
    severity: Annotated[str, Example("high")]
    """Severity of the incident."""
    started_at: datetime
    """When it started."""
    resolved_at: datetime | None
    """When it was resolved; null if it was not yet."""
    downtime_s: Annotated[int, Example(600)]
    """Its downtime in seconds, also beyond the period; of an open one until the report was computed."""
    acknowledged_s: Annotated[int, Example(120)] | None
    """Seconds until it was acknowledged; null if nobody did."""
    cause: Annotated[str, Example("expected status 200-299, got 503")] | None
    """The last error of its monitor."""
    note: Annotated[str, Example("Rolled back.")] | None
    """Note of the resolution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentNumbers:
    """Numbers of the incidents that started in a period; mean times in seconds."""

    incidents: Annotated[int, Example(2)]
    """Number of incidents."""
    unresolved: Annotated[int, Example(0)]
    """Number of those that were not resolved when the report was computed."""
    mttr: Annotated[int, Example(600)] | None
    """Mean downtime of resolved incidents; null without any."""
    mtta: Annotated[int, Example(120)] | None
    """Mean time until an incident was acknowledged; null if none was."""
    mtbf: Annotated[int, Example(86_400)] | None
    """Mean time between the starts of two incidents in a row; null of fewer than two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedTime:
    """A time under maintenance, which counts in no uptime."""

    name: Annotated[str, Example("Database upgrade")] | None
    """Name of the maintenance window; null if it was deleted."""
    start: datetime
    """Start, not before the period."""
    end: datetime
    """End, not after the period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodBefore:
    """The period before, for comparison."""

    since: datetime
    """First moment of that period."""
    until: datetime
    """First moment after it."""
    uptime: Percent | None
    """Uptime of all monitors together; null if nothing was measured."""
    numbers: IncidentNumbers
    """Numbers of its incidents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContent:
    """What a report says of a period."""

    name: Annotated[str, Example("Shop, monthly")]
    """Name of the report."""
    subject: Annotated[str, Example("All monitors of the team")]
    """Which monitors it is about."""
    first_day: date
    """First day of the period."""
    last_day: date
    """Last day of the period."""
    timezone: Annotated[str, Example("Europe/Berlin")]
    """Time zone of the days."""
    since: datetime
    """First moment of the period."""
    until: datetime
    """First moment after it."""
    business_hours: Annotated[str, Example("Mo-Fr 08:00-18:00")] | None
    """Business hours by the clock of the time zone."""
    target: Annotated[float, Example(99.9)] | None
    """Uptime that was promised, in percent."""
    time: Accounting
    """How all monitors together spent the period: the sum of theirs."""
    business: Accounting | None
    """The same within business hours."""
    met: bool | None
    """Whether the uptime of all together reaches the target."""
    p50_ms: Annotated[float, Example(120.0)] | None
    """Median response time of good checks of all monitors."""
    p95_ms: Annotated[float, Example(240.0)] | None
    """95th percentile of it."""
    longest_ms: Milliseconds
    """Length of the longest outage."""
    monitors: Sequence[ReportMonitorLine]
    """The monitors by name."""
    best: Sequence[MonitorId]
    """Up to three monitors with the highest uptime, the highest first."""
    worst: Sequence[MonitorId]
    """Up to three monitors with the lowest uptime below 100, the lowest first."""
    numbers: IncidentNumbers
    """Numbers of the incidents."""
    incidents: Sequence[ReportIncidentLine]
    """The incidents by their start, up to 500."""
    excluded: Sequence[ExcludedTime]
    """The times under maintenance by their start, up to 200."""
    before: PeriodBefore
    """The period before."""

    @property
    def days(self) -> str:
        """The days of the period in words."""
        return f"{self.first_day:%d %b %Y} to {self.last_day:%d %b %Y}"
