"""Adds up how time was spent, and compares monitors, incidents and periods by it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from collector.history.core.uptime import Span, intersection, length_ms, less, union
from collector.reports.core.content import Accounting, IncidentNumbers, ReportIncidentLine, ReportMonitorLine

_SHOWN = 3
_FULL = 100.0


@dataclass(frozen=True, slots=True)
class MeasuredTime:
    """Milliseconds of a monitor within some spans: *known*, and *down* as a part of them."""

    known_ms: int
    down_ms: int


def uptime(up_ms: int, down_ms: int) -> float | None:
    """Return the share of *up_ms* in percent, rounded down to 3 decimals: 99.9996 is not 100."""
    known_ms = up_ms + down_ms
    return 100_000 * up_ms // known_ms / 1000 if known_ms else None


def account(
    spans: Sequence[Span], measured: MeasuredTime, paused: Sequence[Span], maintenance: Sequence[Span]
) -> Accounting:
    """Return how the *spans* were spent. Pauses come before maintenance, and what is left is unknown."""
    period_ms = _length(spans)
    paused = intersection(spans, union(paused))
    maintained = less(intersection(spans, union(maintenance)), paused)
    known_ms = min(measured.known_ms, period_ms)
    down_ms = min(measured.down_ms, known_ms)
    # Each is rounded to milliseconds for itself, so that together they may exceed the period by a few.
    paused_ms = min(_length(paused), period_ms - known_ms)
    maintenance_ms = min(_length(maintained), period_ms - known_ms - paused_ms)
    return Accounting(
        period_ms=period_ms,
        up_ms=known_ms - down_ms,
        down_ms=down_ms,
        maintenance_ms=maintenance_ms,
        paused_ms=paused_ms,
        unknown_ms=period_ms - known_ms - paused_ms - maintenance_ms,
        uptime=uptime(known_ms - down_ms, down_ms),
    )


def together(parts: Sequence[Accounting]) -> Accounting:
    """Return the sum of *parts*."""
    up_ms, down_ms = sum(part.up_ms for part in parts), sum(part.down_ms for part in parts)
    return Accounting(
        period_ms=sum(part.period_ms for part in parts),
        up_ms=up_ms,
        down_ms=down_ms,
        maintenance_ms=sum(part.maintenance_ms for part in parts),
        paused_ms=sum(part.paused_ms for part in parts),
        unknown_ms=sum(part.unknown_ms for part in parts),
        uptime=uptime(up_ms, down_ms),
    )


def met(time: Accounting, business: Accounting | None, target: float | None) -> bool | None:
    """Whether the target is reached, within business hours if there are any; None if nobody can say."""
    counted = (business or time).uptime
    return None if target is None or counted is None else counted >= target


def best(lines: Iterable[ReportMonitorLine]) -> list[str]:
    """Return the ids of the few monitors with the highest uptime."""
    known = [(line.time.uptime, line.id) for line in lines if line.time.uptime is not None]
    return [id_ for _, id_ in sorted(known, key=lambda pair: -pair[0])[:_SHOWN]]


def worst(lines: Iterable[ReportMonitorLine]) -> list[str]:
    """Return the ids of the few monitors with the lowest uptime, without those that were never down."""
    known = [(line.time.uptime, line.id) for line in lines if line.time.uptime is not None]
    return [id_ for share, id_ in sorted(known) if share < _FULL][:_SHOWN]


def incident_numbers(incidents: Sequence[ReportIncidentLine]) -> IncidentNumbers:
    """Return the numbers of *incidents*, which are in the order of their starts."""
    resolved = [line.downtime_s for line in incidents if line.resolved_at is not None]
    taken = [line.acknowledged_s for line in incidents if line.acknowledged_s is not None]
    return IncidentNumbers(
        incidents=len(incidents),
        unresolved=len(incidents) - len(resolved),
        mttr=_mean(sum(resolved), len(resolved)),
        mtta=_mean(sum(taken), len(taken)),
        mtbf=_between([line.started_at for line in incidents]),
    )


def _between(starts: Sequence[datetime]) -> int | None:
    if len(starts) < 2:
        return None
    return _mean((starts[-1] - starts[0]).total_seconds(), len(starts) - 1)


def _mean(total: float, count: int) -> int | None:
    return round(total / count) if count else None


def _length(spans: Iterable[Span]) -> int:
    return sum(length_ms([(start, end)], start, end) for start, end in spans)
