"""The latest checks of a monitor for its page, filtered, and all of a window as CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from aiohttp import hdrs, web

from collector.console import line_charts
from collector.console.line_charts import LineChart
from collector.console.state import visitor
from collector.heartbeats import service as heartbeats
from collector.history.storage.result_reads import Result, ResultFilter
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.monitors.api import views
from collector.monitors.api.results_export import CSV_HEADER, csv_of
from collector.monitors.console import response
from collector.monitors.console.response import ChartView
from collector.monitors.service import reads, results
from collector.monitors.service.reads import WHAT
from collector.monitors.storage.monitors import Monitor
from collector.platform.answer_json import json_object
from collector.platform.csv_text import csv_lines
from collector.platform.storage.db import Db
from shared import ids
from shared.results import Status

STATUSES: Final[Mapping[str, Status]] = {
    "up": Status.UP,
    "down": Status.DOWN,
    "unknown": Status.UNKNOWN,
}
PHASES: Final[Mapping[str, str]] = {
    "dns": "DNS",
    "connect": "connect",
    "tls": "TLS",
    "firstByte": "first byte",
    "transfer": "transfer",
}
_FEW: Final = 20
_MOST: Final = 500
_DRAWN: Final = 120
_WEEK: Final = timedelta(days=7)
_SOON: Final = timedelta(minutes=1)
_MOST_EXPORTED: Final = 50_000


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A check in the list; *phases* in milliseconds by name, *days_left* of the certificate it saw."""

    at: datetime
    location: str
    status: str
    ms: int | None
    phases: Mapping[str, float | None]
    said: str
    days_left: int | None
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestChecks:
    """*more*: how many to ask for next, 0 if there are no others; *phases*: a chart of their durations."""

    lines: Sequence[CheckLine]
    status: str
    location: str
    total: int
    more: int
    phases: LineChart | None


async def read(
    db: Db, monitor: Monitor, query: Mapping[str, str], view: ChartView, now: datetime
) -> LatestChecks:
    """Read the checks that *query* asks for: of the window if it names one, else of the last week."""
    count = query.get("checks", "")
    limit = min(int(count), _MOST) if count.isascii() and count.isdigit() and len(count) < 6 else _FEW
    wanted = _wanted(query, view, now)
    newest, total = await results.page(db, monitor, wanted, max(limit, _DRAWN), now)
    bodies = await heartbeats.bodies(db, monitor, newest[:limit])
    lines = [_line(each, bodies.get(each.cursor, "")) for each in newest]
    return LatestChecks(
        lines=lines[:limit],
        status=query.get("status", "") if wanted.status else "",
        location=wanted.location or "",
        total=total,
        more=min(limit * 5, _MOST) if total > limit and limit < _MOST else 0,
        phases=_phases(lines),
    )


def _wanted(query: Mapping[str, str], view: ChartView, now: datetime) -> ResultFilter:
    since, until = (now - _WEEK, now + _SOON) if view.over else (view.since, view.until)
    return ResultFilter(
        since=since,
        until=until,
        location=query.get("location", "").replace("\0", "") or None,
        status=STATUSES.get(query.get("status", "")),
    )


def _line(result: Result, body: str) -> CheckLine:
    shown = views.result(result)
    return CheckLine(
        at=result.ts,
        location=result.name,
        status=shown.status,
        ms=None if result.status == Status.UNKNOWN and not result.ms else result.ms,
        phases=json_object(shown.phases),
        said=result.error or str(result.code or ""),
        days_left=shown.days_left,
        body=body,
    )


def _phases(lines: Sequence[CheckLine]) -> LineChart | None:
    """Draw the mean phases of each round of checks; a round has a check of each location."""
    measured = [line for line in reversed(lines) if any(value is not None for value in line.phases.values())]
    places = len({line.location for line in measured}) or 1
    rounds = [measured[at : at + places] for at in range(0, len(measured), places)]
    return line_charts.stack([(each[-1].at, _mean(each)) for each in rounds], PHASES)


def _mean(checks: Sequence[CheckLine]) -> dict[str, float]:
    return {
        name: sum(check.phases.get(name) or 0.0 for check in checks) / len(checks)
        for name in PHASES
        if any(check.phases.get(name) is not None for check in checks)
    }


async def export(request: web.Request) -> web.StreamResponse:
    """Answer with the checks of the page's window and filter as CSV, newest first."""
    context, id_ = context_of(request), path_id(request, "mon", WHAT)
    monitor = await reads.found(context.db, visitor(request).team_id, id_)
    now = context.now()
    view = response.view(request.query, now)
    wanted = _wanted(request.query, view, now)
    if view.over:
        wanted = ResultFilter(
            since=view.since, until=view.until, location=wanted.location, status=wanted.status
        )
    answer = web.StreamResponse(
        headers={
            hdrs.CONTENT_TYPE: "text/csv; charset=utf-8",
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{ids.show("mon", id_)}.csv"',
        }
    )
    await answer.prepare(request)
    await answer.write(csv_lines([CSV_HEADER]))
    left = _MOST_EXPORTED
    async for found in results.pages(context.db, monitor, wanted, now):
        await answer.write(csv_of(found[:left]))
        left -= len(found)
        if left <= 0:
            break
    await answer.write_eof()
    return answer
