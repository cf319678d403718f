"""The rollups of months that nobody stored results of: numbers as an hour of such checks would give."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Final

from collector.demo.core.fleet import PlannedMonitor
from collector.demo.core.past import ResponseTimes
from collector.history.core import histogram, rollup
from collector.history.core.rollup import Rollup
from shared.clock import EPOCH

# In milliseconds since 1970.
Span = tuple[int, int]
_MS: Final = timedelta(milliseconds=1)
# Shares of the answers, by how far from the usual response time they are.
_SPREAD: Final = ((0.85, 0.18), (0.95, 0.3), (1.05, 0.3), (1.2, 0.17), (1.9, 0.04), (4.0, 0.01))


def ms_of(moment: datetime) -> int:
    return (moment - EPOCH) // _MS


def shared_ms(span: Span, others: Iterable[Span]) -> int:
    """For how many milliseconds of *span* one of *others*, which do not overlap, goes on."""
    return sum(max(0, min(span[1], until) - max(span[0], since)) for since, until in others)


def of_span(
    monitor: PlannedMonitor,
    place: tuple[int, str],
    span: tuple[datetime, datetime],
    down: Sequence[Span],
    away: Sequence[Span],
    times: ResponseTimes,
    random: Random,
) -> Rollup:
    """The numbers of *monitor* from a location (its number and name) over an hour, or some.

    *down*: its outages, *away*: maintenance.
    """
    since, until = span
    whole = (ms_of(since), ms_of(until))
    length_ms = whole[1] - whole[0]
    down_ms, away_ms = shared_ms(whole, down), shared_ms(whole, away)
    checks = max(1, round(length_ms / 1000 / monitor.interval_s))
    failed = min(checks, round(checks * down_ms / length_ms))
    good = checks - failed
    mean = times.mean_ms(monitor, since + (until - since) / 2, place[1]) * random.uniform(0.93, 1.07)
    buckets, counts = _histogram(mean, good)
    return Rollup(
        location=place[0],
        place=None,
        at=since,
        checks=checks,
        good=good,
        failed=failed,
        unknown=0,
        answers=good,
        sum_ms=round(mean * good),
        buckets=buckets,
        counts=counts,
        known_ms=length_ms - away_ms,
        down_ms=min(down_ms, length_ms - away_ms),
    )


def together(rows: Sequence[Rollup], down: Sequence[Span]) -> Rollup:
    """The monitor as a whole, from its locations; *down*: its own outages, by its quorum."""
    first = rows[0]
    if len(rows) == 1:
        return first._replace(location=0)
    whole = (ms_of(first.at), ms_of(first.at) + first.known_ms)
    return rollup.together(rows)._replace(
        location=0, known_ms=first.known_ms, down_ms=min(first.known_ms, shared_ms(whole, down))
    )


def of_day(hours: Sequence[Rollup]) -> Rollup:
    """The sum of a day's hours, of one location."""
    return rollup.together(hours)._replace(at=hours[0].at.replace(hour=0))


def _histogram(mean: float, answers: int) -> tuple[list[int], list[int]]:
    """Buckets that rise, and their counts, of so many answers around *mean*."""
    found: dict[int, int] = {}
    left = answers
    for factor, share in _SPREAD:
        count = min(left, round(answers * share))
        left -= count
        if count:
            bucket = histogram.bucket_of(round(mean * factor))
            found[bucket] = found.get(bucket, 0) + count
    if left:
        bucket = histogram.bucket_of(round(mean))
        found[bucket] = found.get(bucket, 0) + left
    order = sorted(found)
    return order, [found[bucket] for bucket in order]
