"""Statistics of monitors: a chart of one, the daily uptime of many."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from aiohttp import web

from collector.history.core.histogram import ERROR
from collector.history.core.rollup import UptimeStatistics
from collector.history.service import charts, statistics
from collector.history.service.charts import ChartData, ChartPoint, ChartRequest
from collector.history.service.statistics import DailyUptime
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.request_data import Query, ok, path_id
from collector.monitors.answers import (
    ChartMeta,
    LocationPoints,
    MonitorChart,
    MonitorUptime,
    MonitorUptimes,
    Point,
    UptimeDay,
)
from collector.monitors.service import reads
from shared import ids
from shared.clock import EPOCH, iso

_STEP = re.compile(r"([0-9]{1,9})([smhd]?)")
_UNITS = {
    "": timedelta(seconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_LONGEST_STEP = timedelta(days=3660)
_DEFAULT_WINDOW = timedelta(days=1)
_LAST = datetime(2200, 1, 1, tzinfo=EPOCH.tzinfo)
_MS = timedelta(milliseconds=1)
_DEFAULT_DAYS = 90
_MOST_DAYS = 366
_MOST_IDS = 100


async def chart(request: web.Request) -> web.Response:
    """Return a chart; the monitor is looked up before the query is read: 404 comes before 400."""
    context = context_of(request)
    id_ = path_id(request, "mon", reads.WHAT)
    monitor = await reads.found(context.db, caller(request).team_id, id_)
    query, now = Query(request), context.now()
    wanted = _wanted(query, now)
    query.done()
    return ok(_shown(await charts.chart(context.db, monitor.monitor, wanted, now)))


async def daily(request: web.Request) -> web.Response:
    """Return the daily uptime of the team's own among the requested monitors, in the requested order."""
    context, query = context_of(request), Query(request)
    wanted, days = _ids(query), _days(query)
    query.done()
    found = await statistics.daily_of(context.db, caller(request).team_id, wanted, days, context.now())
    return ok(MonitorUptimes(data=[_days_of(id_, found[id_]) for id_ in wanted if id_ in found]))


def _wanted(query: Query, now: datetime) -> ChartRequest:
    """Return the window: by default the last 24 h, or the 24 h before ``to``, or from ``from`` to now."""
    since, until = (_within_reach(query, *end) for end in zip(("from", "to"), query.span(), strict=True))
    # A date as the end means the whole day.
    until = until + timedelta(microseconds=1) if until else max(now, since or now)
    since = since or max(until - _DEFAULT_WINDOW, EPOCH)
    since, until = since - (since - EPOCH) % _MS, until - (until - EPOCH) % _MS
    if since >= until:
        query.fault("from", "must be before to")
    return ChartRequest(since=since, until=until, step=_step(query), location=query.text("location"))


def _within_reach(query: Query, name: str, at: datetime | None) -> datetime | None:
    if at is None or EPOCH <= at < _LAST:
        return at
    query.fault(name, f"must be between {EPOCH.year} and {_LAST.year}")
    return None


def _step(query: Query) -> timedelta | None:
    text = query.text("step")
    if text is None:
        return None
    parts = _STEP.fullmatch(text)
    step = int(parts[1]) * _UNITS[parts[2]] if parts else timedelta()
    if timedelta() < step <= _LONGEST_STEP:
        return step
    query.fault("step", "must be a time like 5m, 1h or 1d, or a number of seconds; at most 3660d")
    return None


def _days(query: Query) -> int:
    days = query.integer("days")
    if days is None:
        return _DEFAULT_DAYS
    if not 1 <= days <= _MOST_DAYS:
        query.fault("days", f"must be between 1 and {_MOST_DAYS}")
    return days


def _ids(query: Query) -> list[UUID]:
    """Return the ids without duplicates."""
    texts = list(filter(None, (query.text("ids") or "").split(",")))
    found = [ids.read("mon", text.strip()) for text in texts]
    if not texts or None in found:
        query.fault("ids", "must be ids that start with mon_, with commas between them")
    if len(texts) > _MOST_IDS:
        query.fault("ids", f"must be at most {_MOST_IDS}")
    return list(dict.fromkeys(filter(None, found)))


def _shown(chart: ChartData) -> MonitorChart:
    """Return the chart; the times of the steps, equal for all locations, are formatted once."""
    wanted = chart.wanted
    times = [(iso(point.since), iso(point.until)) for point in chart.points]
    return MonitorChart(
        data=_points(times, chart.points),
        locations=[
            LocationPoints(location=name, data=_points(times, points))
            for name, points in chart.places.items()
        ],
        total=_point(iso(wanted.since), iso(wanted.until), chart.total),
        meta=ChartMeta(
            from_=wanted.since,
            to=wanted.until,
            step=chart.step // timedelta(seconds=1),
            percentile_error=ERROR,
        ),
    )


def _points(times: Sequence[tuple[str, str]], points: Sequence[ChartPoint]) -> list[Point]:
    return [_point(since, until, point.numbers) for (since, until), point in zip(times, points, strict=True)]


def _point(since: str, until: str, numbers: UptimeStatistics) -> Point:
    """Return a point; null means that nothing was measured."""
    median, most, nearly_all = numbers.percentiles_ms or (None, None, None)
    return Point(
        from_=since,
        to=until,
        uptime=numbers.uptime,
        checks=numbers.checks,
        check_success=numbers.success,
        avg_latency=_rounded(numbers.latency_ms),
        p50=_rounded(median),
        p95=_rounded(most),
        p99=_rounded(nearly_all),
        known_seconds=numbers.known_ms / 1000,
        outage_seconds=numbers.down_ms / 1000,
    )


def _rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 1)


def _days_of(id_: UUID, daily: DailyUptime) -> MonitorUptime:
    return MonitorUptime(
        id=ids.show("mon", id_),
        uptime=daily.uptime,
        days=[
            UptimeDay(date=day.at.date().isoformat(), uptime=day.uptime, outage_seconds=day.down_ms / 1000)
            for day in daily.days
        ],
    )
