"""Charts of a monitor, step by step: from days, hours and, at the edges, raw results."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from collector.history.core import window
from collector.history.core.rollup import Rollup, UptimeStatistics, numbers
from collector.history.core.window import HOUR, Between
from collector.history.storage import live_rollups, partitions, result_reads, rollup_reads
from collector.platform.storage.db import Db, Tx
from shared.clock import EPOCH
from shared.errors import Invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRequest:
    """*step* None: chosen by length. *location* None: the monitor as a whole, and each of its locations."""

    since: datetime
    until: datetime
    step: timedelta | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """One step, half open, like every window here."""

    since: datetime
    until: datetime
    numbers: UptimeStatistics


@dataclass(frozen=True, slots=True)
class ChartData:
    """*wanted*: the window as answered. *places*: locations by name, sorted."""

    wanted: ChartRequest
    step: timedelta
    points: list[ChartPoint]
    places: dict[str, list[ChartPoint]]
    total: UptimeStatistics


async def chart(db: Db, monitor: int, wanted: ChartRequest, now: datetime) -> ChartData:
    """Return the steps of a window. Raises Invalid (`step`) if they are too many, or finer than stored data.

    Where raw results have expired, the window is widened to whole hours.
    """
    async with db.transaction() as tx:
        await live_rollups.plan_once(tx)
        answered, step = _answerable(wanted, await kept_since(tx, wanted.since, now))
        rows = await _rollups(tx, monitor, answered, step, now)
    return _drawn(answered, step, rows)


async def kept_since(tx: Tx, since: datetime, now: datetime) -> datetime:
    """Return since when raw results exist; *since* if they exist then."""
    if since >= now - partitions.BACK or await result_reads.kept(tx, since):
        return since
    return await partitions.whole_since(tx, now.date())


def _answerable(wanted: ChartRequest, kept_since: datetime) -> tuple[ChartRequest, timedelta]:
    since, until = wanted.since, wanted.until
    raw = since >= kept_since
    since = since if raw else window.floor(since, HOUR)
    until = until if until >= kept_since else window.ceiling(until, HOUR)
    step = wanted.step or window.default_step(until - since, hours=not raw)
    if not window.by_hours(step) and not raw:
        raise Invalid({"step": "must be whole hours: of then, results are not kept one by one"})
    if not window.by_hours(step) and until - since > window.MOST_RAW:
        raise Invalid({"step": "must be whole hours when from and to are more than 48 hours apart"})
    if (count := window.count(since, until, step)) > window.MOST_POINTS:
        raise Invalid({"step": f"must make at most {window.MOST_POINTS} points, not {count}"})
    return replace(wanted, since=since, until=until), step


async def _rollups(
    tx: Tx, monitor: int, wanted: ChartRequest, step: timedelta, now: datetime
) -> list[Rollup]:
    until = min(wanted.until, now)
    if until <= wanted.since:
        return []
    extent = await rollup_reads.extent(tx, monitor, wanted.since, until)
    parts = window.divide(wanted.since, until, step, rolled_until=extent.until, dirty=frozenset(extent.dirty))
    rows = []
    if parts.days or parts.hours:
        rows += await rollup_reads.within(tx, monitor, parts.days, parts.hours, wanted.location)
    if parts.raw:
        live = await live_rollups.rollups(tx, [monitor], parts.raw, step, wanted.location)
        rows += live.get(monitor, [])
    return rows


def _drawn(wanted: ChartRequest, step: timedelta, rows: Sequence[Rollup]) -> ChartData:
    by_place: dict[str | None, list[Rollup]] = defaultdict(list)
    for row in rows:
        by_place[row.place].append(row)
    whole = by_place.pop(None, []) if wanted.location is None else by_place[wanted.location]
    spans = window.points(wanted.since, wanted.until, step)
    return ChartData(
        wanted=wanted,
        step=step,
        points=_points(spans, step, whole),
        places={place: _points(spans, step, by_place[place]) for place in sorted(filter(None, by_place))},
        total=numbers(whole),
    )


def _points(spans: Sequence[Between], step: timedelta, rows: Sequence[Rollup]) -> list[ChartPoint]:
    by_step: dict[int, list[Rollup]] = defaultdict(list)
    for row in rows:
        by_step[(row.at - EPOCH) // step].append(row)
    first = (spans[0][0] - EPOCH) // step
    return [
        ChartPoint(since, until, numbers(by_step.get(number, ())))
        for number, (since, until) in enumerate(spans, start=first)
    ]
