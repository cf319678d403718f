"""Statistics of monitors: those of one, and the daily uptime of many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from collector.history.core import uptime, window
from collector.history.core.rollup import Rollup, numbers
from collector.history.core.window import DAY, HOUR
from collector.history.storage import live_rollups, monitor_stats, rollup_reads
from collector.history.storage.rollup_reads import MonitorDays, Recent
from collector.platform.storage.db import Db, Tx

# If more hours than this await their rollup, recent numbers of a monitor leave out the older ones.
_LIVE = timedelta(days=2)
_SUMMED_DAYS = (7, 30, 90)


@dataclass(frozen=True, slots=True)
class Summary:
    """Uptimes in percent of the known time of the last 1, 7, 30 and 90 days; the rest of the last 24 hours.

    The 24 hours begin with their hour, longer times with their UTC day. Latencies are in milliseconds,
    of good checks, 0 without any; *success*: the percentage of scheduled checks that were good.
    *measured*: whether a location voted in the last 30 days; if not, the rest are placeholders.
    """

    uptime_day: float
    uptime_week: float
    uptime: float
    uptime_quarter: float
    avg_latency: float
    p50: float
    p95: float
    p99: float
    checks_today: int
    check_success: float
    measured: bool


@dataclass(frozen=True, slots=True)
class DayOf:
    """*uptime* None: unknown."""

    at: datetime
    uptime: float | None
    down_ms: int


@dataclass(frozen=True, slots=True)
class DailyUptime:
    """A monitor's days, oldest first and without gaps, and their total."""

    uptime: float | None
    days: list[DayOf]


async def summary(tx: Tx, monitor: int, now: datetime) -> Summary:
    """Return the summary by two queries: of the rollups, and of the results since."""
    midnight, day_ago = window.floor(now, DAY), window.floor(now, HOUR) - DAY
    rolled = await rollup_reads.recent(
        tx, monitor, day_ago, midnight, [midnight - days * DAY for days in _SUMMED_DAYS]
    )
    live = (await _live(tx, [monitor], rolled.until, HOUR, now)).get(monitor, [])
    last_day = [row for row in live if row.at >= day_ago]
    day = numbers([_last_day(rolled, day_ago), *last_day])
    low, high, highest = day.percentiles_ms or (0.0, 0.0, 0.0)
    of_day, of_week, of_month, of_quarter = _uptimes(rolled, last_day, live)
    return Summary(
        uptime_day=of_day,
        uptime_week=of_week,
        uptime=of_month,
        uptime_quarter=of_quarter,
        avg_latency=round(day.latency_ms or 0.0, 1),
        p50=round(low, 1),
        p95=round(high, 1),
        p99=round(highest, 1),
        checks_today=rolled.checks_today + sum(row.checks for row in live if row.at >= midnight),
        check_success=100.0 if day.success is None else day.success,
        measured=day.success is not None or _month_known(rolled, live),
    )


async def daily(tx: Tx, monitors: Sequence[int], days: int, now: datetime) -> dict[int, DailyUptime]:
    """Return the last *days* UTC days of each monitor, with today. One more query for those in an outage.

    Hours of the others that are not rolled up yet are left out: they have no outage.
    """
    midnight = window.floor(now, DAY)
    starts = [midnight - n * DAY for n in reversed(range(days))]
    rolled = await rollup_reads.days(tx, monitors, starts[0])
    troubled = [each.monitor for each in rolled if each.lately_down]
    live = await _live(tx, troubled, rolled[0].until, DAY, now) if troubled else {}
    return {each.monitor: _daily(each, live.get(each.monitor, []), starts) for each in rolled}


async def daily_of(
    db: Db, team_id: int, ids: Sequence[UUID], days: int, now: datetime
) -> dict[UUID, DailyUptime]:
    """Return `daily` by id; ids that are no monitor of this team are left out."""
    async with db.connection() as tx:
        numbers_of = await monitor_stats.numbers(tx, team_id, ids)
        known = await daily(tx, list(numbers_of.values()), days, now)
    return {id_: known[monitor] for id_, monitor in numbers_of.items()}


async def _live(
    tx: Tx, monitors: Sequence[int], since: datetime | None, step: timedelta, now: datetime
) -> dict[int, list[Rollup]]:
    """Return rollups from *since* on, where the tables have none, of the last two days at most."""
    since = max(since or now - _LIVE, now - _LIVE)
    by_monitor = await live_rollups.rollups(tx, monitors, [(since, now)], step) if since < now else {}
    return {monitor: [row for row in rows if row.place is None] for monitor, rows in by_monitor.items()}


def _month_known(rolled: Recent, live: Iterable[Rollup]) -> bool:
    return rolled.known_ms[2] > 0 or any(row.known_ms for row in live)


def _last_day(rolled: Recent, since: datetime) -> Rollup:
    return Rollup(
        location=0,
        place=None,
        at=since,
        checks=0,
        good=rolled.good,
        failed=rolled.failed,
        unknown=0,
        answers=rolled.answers,
        sum_ms=rolled.sum_ms,
        buckets=rolled.buckets,
        counts=rolled.counts,
        known_ms=rolled.known_ms[0],
        down_ms=rolled.down_ms[0],
    )


def _uptimes(rolled: Recent, last_day: Iterable[Rollup], live: Iterable[Rollup]) -> list[float]:
    parts = zip(rolled.known_ms, rolled.down_ms, (last_day, live, live, live), strict=True)
    return [
        uptime.share(known + sum(row.known_ms for row in rows), down + sum(row.down_ms for row in rows))
        for known, down, rows in parts
    ]


def _daily(monitor_days: MonitorDays, live: Iterable[Rollup], starts: Sequence[datetime]) -> DailyUptime:
    known, down = dict.fromkeys(starts, 0), dict.fromkeys(starts, 0)
    rolled = zip(monitor_days.starts, monitor_days.known_ms, monitor_days.down_ms, strict=True)
    for at, known_ms, down_ms in (*rolled, *((row.at, row.known_ms, row.down_ms) for row in live)):
        if at in known:
            known[at] += known_ms
            down[at] += down_ms
    days = [DayOf(at, _share(known[at], down[at]), down[at]) for at in starts]
    return DailyUptime(_share(sum(known.values()), sum(down.values())), days)


def _share(known_ms: int, down_ms: int) -> float | None:
    return uptime.share(known_ms, down_ms) if known_ms else None
