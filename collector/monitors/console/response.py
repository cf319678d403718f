"""The response times of a monitor for its page: range, lines, bands, and a text for each step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from collector.console import line_charts
from collector.console.language import gettext, translate
from collector.console.line_charts import ChartSpan, LineChart, Series
from collector.console.render import latency, percent, plural, span
from collector.history.core import window
from collector.history.core.rollup import UptimeStatistics
from collector.history.service import charts
from collector.history.service.charts import ChartData, ChartPoint, ChartRequest
from collector.history.storage import outages, result_reads
from collector.history.storage.result_reads import Result, ResultFilter
from collector.maintenance.storage import spans
from collector.platform.storage.db import Db
from shared.clock import EPOCH
from shared.errors import Invalid
from shared.results import Status

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)
RANGES: Final[Mapping[str, timedelta]] = {
    "1h": _HOUR,
    "24h": _DAY,
    "7d": _WEEK,
    "30d": 30 * _DAY,
    "90d": 90 * _DAY,
}
_USUAL: Final = "24h"
_LONGEST: Final = 366 * _DAY
_SHORTEST: Final = timedelta(minutes=1)
# Up to this length each check is drawn, unless they are more than can be told apart.
_EACH: Final = timedelta(hours=3)
_MOST_CHECKS: Final = 400
_MOST_STEPS: Final = 100
_STEPS: Final = (
    *(timedelta(minutes=each) for each in (1, 2, 5, 15, 30)),
    *(each * _HOUR for each in (1, 2, 4, 8)),
    *(each * _DAY for each in (1, 2, 7)),
)
_STYLES: Final = 6
_PERCENTILES: Final[Mapping[str, tuple[int, str]]] = {
    "p50": (0, "Median"),
    "p95": (1, "95th percentile"),
    "p99": (2, "99th percentile"),
}
LINES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "usual": ("Median and 95th percentile", ("p50", "p95")),
    "all": ("Median, 95th, 99th percentile", ("p50", "p95", "p99")),
    "p50": ("Median", ("p50",)),
    "p95": ("95th percentile", ("p95",)),
    "p99": ("99th percentile", ("p99",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartView:
    """What the query of the page selects; *over* is empty for a window of its own."""

    over: str
    since: datetime
    until: datetime
    lines: str
    by_location: bool
    week_before: bool


@dataclass(frozen=True, slots=True)
class ResponseCard:
    """*chart* None: nothing was measured; *text* describes it to those who do not see it."""

    view: ChartView
    chart: LineChart | None
    each: bool
    text: str


def view(query: Mapping[str, str], now: datetime) -> ChartView:
    """Return what *query* selects; what it cannot mean is left at its default."""
    over = query.get("range", "")
    since, until = _moment(query.get("from", "")), _moment(query.get("to", ""))
    own = None
    if over not in RANGES and since and until and _SHORTEST <= until - since <= _LONGEST:
        own = since, until
    over = "" if own else over if over in RANGES else _USUAL
    if own is None:
        step = _step(RANGES[over])
        end = window.ceiling(now, step)
        own = end - RANGES[over], end
    lines = query.get("lines", "")
    return ChartView(
        over=over,
        since=own[0],
        until=own[1],
        lines=lines if lines in LINES else "usual",
        by_location=query.get("by") == "location",
        week_before=query.get("compare") == "week",
    )


def _moment(text: str) -> datetime | None:
    """Read a date or a time of the query, in UTC unless it has a zone."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    last = EPOCH + 200 * 365 * _DAY
    return moment.replace(microsecond=0) if EPOCH <= moment < last else None


def _step(length: timedelta) -> timedelta:
    return next((step for step in _STEPS if length / step <= _MOST_STEPS), _STEPS[-1])


async def read(db: Db, monitor: int, wanted: ChartView, now: datetime, interval: timedelta) -> ResponseCard:
    """Read and draw the response times of a view; *interval*: the usual time between two checks."""
    marks = await _bands(db, monitor, wanted, now)
    if wanted.until - wanted.since <= _EACH and not wanted.week_before:
        checks = await _checks(db, monitor, wanted)
        if len(checks) <= _MOST_CHECKS:
            drawn = line_charts.draw(
                wanted.since,
                wanted.until,
                _of_checks(checks, 2.5 * interval),
                marks,
                _steps_of_checks(checks, wanted),
            )
            return ResponseCard(wanted, drawn, each=True, text=_text(drawn, wanted))
    chart = await _steps(db, monitor, wanted.since, wanted.until, now)
    joined = 1.5 * chart.step if interval <= chart.step else 1.5 * interval + chart.step
    series = _by_location(chart, wanted, joined) if wanted.by_location else _of_all(chart, wanted, joined)
    if wanted.week_before:
        earlier = await _steps(db, monitor, wanted.since - _WEEK, wanted.until - _WEEK, now)
        series = [*series, _earlier(earlier.points, wanted, joined)]
    texts = [ChartSpan(each.since, each.until, _of_step(each.numbers)) for each in chart.points]
    drawn = line_charts.draw(wanted.since, wanted.until, series, marks, texts)
    return ResponseCard(wanted, drawn, each=False, text=_text(drawn, wanted))


async def _steps(db: Db, monitor: int, since: datetime, until: datetime, now: datetime) -> ChartData:
    wanted = ChartRequest(since=since, until=until, step=_step(until - since))
    try:
        return await charts.chart(db, monitor, wanted, now)
    except Invalid:
        # Single results of then are not kept: hours are.
        return await charts.chart(db, monitor, replace(wanted, step=None), now)


async def _checks(db: Db, monitor: int, wanted: ChartView) -> list[Result]:
    filter_ = ResultFilter(since=wanted.since, until=wanted.until)
    async with db.connection() as tx:
        results = await result_reads.newest(tx, monitor, filter_, _MOST_CHECKS + 1)
    return results[::-1]


async def _bands(db: Db, monitor: int, wanted: ChartView, now: datetime) -> list[ChartSpan]:
    """Return maintenance and outages in the window, outages on top."""
    async with db.connection() as tx:
        planned = await spans.of_monitor(tx, monitor, wanted.since, wanted.until)
        down = await outages.between(tx, monitor, wanted.since, wanted.until)
    return [
        *(
            ChartSpan(since, until, gettext("Maintenance, %(length)s", length=span(until - since)), "planned")
            for since, until in planned
        ),
        *(
            ChartSpan(
                since,
                until or now,
                gettext("Down for %(length)s", length=span((until or now) - since)),
                "down",
            )
            for since, until in down
        ),
    ]


def _of_all(chart: ChartData, wanted: ChartView, joined: timedelta) -> list[Series]:
    return [
        Series(
            label=translate(_PERCENTILES[name][1]),
            style=name,
            values=_values(chart.points, name),
            joined=joined,
        )
        for name in LINES[wanted.lines][1]
    ]


def _by_location(chart: ChartData, wanted: ChartView, joined: timedelta) -> list[Series]:
    """One line a location: of the highest percentile that the view asks for by itself, else the median."""
    name = wanted.lines if wanted.lines in _PERCENTILES else "p50"
    return [
        Series(label=place, style=f"series-{at % _STYLES}", values=_values(points, name), joined=joined)
        for at, (place, points) in enumerate(chart.places.items())
    ]


def _earlier(points: Sequence[ChartPoint], wanted: ChartView, joined: timedelta) -> Series:
    name = LINES[wanted.lines][1][0]
    moved = [(at + _WEEK, value) for at, value in _values(points, name)]
    label = gettext("%(line)s, a week before", line=translate(_PERCENTILES[name][1]))
    return Series(label=label, style="before", values=moved, joined=joined)


def _values(points: Iterable[ChartPoint], name: str) -> list[tuple[datetime, float | None]]:
    """Return the percentile of each step, in its middle."""
    at = _PERCENTILES[name][0]
    return [
        (
            each.since + (each.until - each.since) / 2,
            each.numbers.percentiles_ms[at] if each.numbers.percentiles_ms else None,
        )
        for each in points
    ]


def _of_step(numbers: UptimeStatistics) -> str:
    if not numbers.checks and numbers.percentiles_ms is None:
        return gettext("Nothing measured")
    times = [
        f"{translate(label)} {latency(numbers.percentiles_ms[at])}"
        for at, label in _PERCENTILES.values()
        if numbers.percentiles_ms
    ]
    known = [gettext("Uptime %(share)s", share=percent(numbers.uptime))] if numbers.uptime is not None else []
    down = [gettext("Down for %(length)s", length=span(numbers.down_ms / 1000))] if numbers.down_ms else []
    return "\n".join([*times, *known, *down, plural(numbers.checks, "check")])


def _of_checks(checks: Sequence[Result], joined: timedelta) -> list[Series]:
    places = sorted({each.name for each in checks})
    good = [
        Series(
            label=place,
            style=f"series-{at % _STYLES}",
            values=[(each.ts, each.ms) for each in checks if each.name == place and each.status == Status.UP],
            joined=joined,
            pointed=True,
        )
        for at, place in enumerate(places)
    ]
    failed = [(each.ts, each.ms) for each in checks if each.status == Status.DOWN]
    if not failed:
        return good
    return [
        *good,
        Series(label=gettext("Failed"), style="failed", values=failed, joined=timedelta(), pointed=True),
    ]


def _steps_of_checks(checks: Sequence[Result], wanted: ChartView) -> list[ChartSpan]:
    by_time: dict[datetime, list[Result]] = {}
    for each in checks:
        by_time.setdefault(each.ts.replace(microsecond=0), []).append(each)
    texts = [
        (at, "\n".join(f"{result.name}: {_of_check(result)}" for result in by_time[at]))
        for at in sorted(by_time)
    ]
    return line_charts.around(texts, wanted.since, wanted.until) if texts else []


def _of_check(check: Result) -> str:
    if check.status == Status.UP:
        return latency(check.ms)
    return f"{translate(Status(check.status).name.lower())}, {check.error or check.code or latency(check.ms)}"


def _text(drawn: LineChart | None, wanted: ChartView) -> str:
    if drawn is None:
        return ""
    length = wanted.over or span(wanted.until - wanted.since)
    return gettext(
        "Response time over %(length)s: at most %(highest)s", length=length, highest=latency(drawn.highest)
    )
