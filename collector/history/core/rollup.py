"""Rollups: numbers of one hour or day of checks, and their sums over any span."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from collector.history.core import histogram, uptime


# Each chart makes hundreds of both: tuples take a fifth of the time.
class Rollup(NamedTuple):
    """*place* None: the monitor as a whole. *good*, *failed*, *unknown* count scheduled checks only.

    *answers* counts good checks of every run, as do sum and histogram.
    """

    location: int
    place: str | None
    at: datetime
    checks: int
    good: int
    failed: int
    unknown: int
    answers: int
    sum_ms: int
    buckets: Sequence[int]
    counts: Sequence[int]
    known_ms: int
    down_ms: int


class UptimeStatistics(NamedTuple):
    """Percentages, and milliseconds; None if nothing was measured. Percentiles: 50th, 95th, 99th."""

    checks: int
    known_ms: int
    down_ms: int
    uptime: float | None
    success: float | None
    latency_ms: float | None
    percentiles_ms: Sequence[float] | None


NOTHING = UptimeStatistics(0, 0, 0, None, None, None, None)


def numbers(rows: Sequence[Rollup]) -> UptimeStatistics:
    """Combine the numbers of all rows."""
    if not rows:
        return NOTHING
    row = rows[0] if len(rows) == 1 else together(rows)
    judged = row.good + row.failed
    return UptimeStatistics(
        checks=row.checks,
        known_ms=row.known_ms,
        down_ms=row.down_ms,
        uptime=uptime.share(row.known_ms, row.down_ms) if row.known_ms else None,
        success=round(100 * row.good / judged, 4) if judged else None,
        latency_ms=row.sum_ms / row.answers if row.answers else None,
        percentiles_ms=histogram.percentiles(row.buckets, row.counts) if row.answers else None,
    )


def together(rows: Sequence[Rollup]) -> Rollup:
    """The sum of *rows*, at least one, at the place and time of the first."""
    buckets, counts = histogram.merged((row.buckets, row.counts) for row in rows)
    return Rollup(
        location=rows[0].location,
        place=rows[0].place,
        at=rows[0].at,
        checks=sum(row.checks for row in rows),
        good=sum(row.good for row in rows),
        failed=sum(row.failed for row in rows),
        unknown=sum(row.unknown for row in rows),
        answers=sum(row.answers for row in rows),
        sum_ms=sum(row.sum_ms for row in rows),
        buckets=buckets,
        counts=counts,
        known_ms=sum(row.known_ms for row in rows),
        down_ms=sum(row.down_ms for row in rows),
    )
