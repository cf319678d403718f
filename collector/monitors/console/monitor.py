"""A monitor's page: state and explanation, history, incidents, actions."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from aiohttp import web

from collector.console import charts as drawings
from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.state import visitor
from collector.history.service import charts, statistics
from collector.history.storage import result_reads
from collector.history.storage.result_reads import Result
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.incidents.service import incidents
from collector.incidents.storage.reads import IncidentFilter
from collector.monitors.api import explain_views, views
from collector.monitors.api.context import MONITOR_FOLLOWERS
from collector.monitors.console import monitors, reports, types, web3
from collector.monitors.service import ends, explain, reads, results
from collector.monitors.service import monitors as service
from collector.monitors.service.reads import WHAT
from collector.platform.answer_json import json_object
from collector.platform.monitor import Silence
from collector.platform.validation.validation import check
from shared import ids
from shared.clock import iso
from shared.errors import Invalid

# The length and the step of each range of the query.
_RANGES: Final = {
    "24h": (timedelta(hours=24), timedelta(minutes=30)),
    "7d": (timedelta(days=7), timedelta(hours=2)),
    "30d": (timedelta(days=30), timedelta(hours=8)),
    "90d": (timedelta(days=90), timedelta(days=1)),
}
_DAYS: Final = 90
_RESULTS: Final = 20
_DRAWN: Final = 60
_INCIDENTS: Final = 5
_WEEK: Final = timedelta(days=7)
_SOON: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A result in the list; *phases* in milliseconds by name, *days_left* of the certificate it saw."""

    at: datetime
    location: str
    status: str
    ms: int | None
    phases: Mapping[str, float | None]
    said: str
    days_left: int | None


async def show(request: web.Request) -> web.StreamResponse:
    context, team_id = context_of(request), visitor(request).team_id
    id_, now = path_id(request, "mon", WHAT), context_of(request).now()
    db = context.db
    found = await reads.one(db, context.keyring, team_id, id_, secrets=False, now=now)
    over = request.query.get("range", "24h")
    wanted = result_reads.ResultFilter(since=now - _WEEK, until=now + _SOON)
    newest = [_line(one) for one in (await results.page(db, found.monitor, wanted, _DRAWN, now))[0]]
    kind = types.kind_of(found.monitor.type, found.config)
    past, _ = await incidents.page(db, team_id, IncidentFilter(monitor_id=id_), _INCIDENTS, 0)
    return page(
        request,
        "monitor.html.j2",
        monitor=found.monitor,
        id=ids.show("mon", id_),
        shown=views.whole(found, now),
        unmeasured=views.unmeasured(found, now),
        config=types.told(found.monitor.type, found.config),
        report=reports.card(request, found.monitor),
        why=explain_views.explained(await explain.explain(db, team_id, id_, now), now),
        uptime=drawings.bars(await _days(request, id_)),
        chart=await _chart(request, found.monitor.monitor, over),
        over=over if over in _RANGES else "24h",
        ranges=list(_RANGES),
        results=newest[:_RESULTS],
        chain=await web3.found(db, found.monitor, kind, now),
        phases=drawings.phases([one.phases for one in reversed(newest)]),
        incidents=past,
        now=now,
    )


def _line(one: Result) -> ResultLine:
    shown = views.result(one)
    return ResultLine(
        at=one.ts,
        location=one.name,
        status=shown.status,
        ms=one.ms,
        phases=json_object(shown.phases),
        said=one.error or str(one.code or ""),
        days_left=shown.days_left,
    )


async def _days(request: web.Request, id_: Any) -> list[float | None]:
    context = context_of(request)
    found = await statistics.daily_of(context.db, visitor(request).team_id, [id_], _DAYS, context.now())
    return [day.uptime for day in found[id_].days] if id_ in found else []


async def _chart(request: web.Request, monitor: int, over: str) -> drawings.Lines | None:
    length, step = _RANGES.get(over, _RANGES["24h"])
    now = context_of(request).now()
    until = now - (now - now.replace(hour=0, minute=0, second=0, microsecond=0)) % step + step
    wanted = charts.ChartRequest(since=until - length, until=until, step=step)
    drawn = await charts.chart(context_of(request).db, monitor, wanted, now)
    return drawings.lines([point.numbers for point in drawn.points])


async def pause(request: web.Request) -> web.StreamResponse:
    id_ = path_id(request, "mon", WHAT)
    await service.pause(
        common.service_context(request), visitor(request).team_id, id_, context_of(request).now()
    )
    return back(request, monitors.path(id_), "Paused: checks stopped, no one is notified.")


async def resume(request: web.Request) -> web.StreamResponse:
    id_ = path_id(request, "mon", WHAT)
    await service.resume(
        common.service_context(request), visitor(request).team_id, id_, context_of(request).now()
    )
    return back(request, monitors.path(id_), "Resumed: the next check starts at once.")


async def silence(request: web.Request) -> web.StreamResponse:
    id_, form = path_id(request, "mon", WHAT), await posted(request)
    length = value(form, "duration")
    body = {"duration": int(length) if length.isdigit() else length, "reason": value(form, "reason")}
    try:
        wanted, _ = check(Silence, {name: one for name, one in body.items() if one != ""})
    except Invalid as fault:
        said = "; ".join(f"{name}: {text}" for name, text in fault.details.items())
        return back(request, monitors.path(id_), said, tone="bad")
    mine = visitor(request)
    until = await service.silence(
        common.service_context(request), mine.team_id, id_, wanted, mine.name, context_of(request).now()
    )
    return back(request, monitors.path(id_), f"Muted until {iso(until)}: no one is notified.")


async def unsilence(request: web.Request) -> web.StreamResponse:
    id_ = path_id(request, "mon", WHAT)
    await service.unsilence(common.service_context(request), visitor(request).team_id, id_)
    return back(request, monitors.path(id_), "Unmuted.")


async def delete(request: web.Request) -> web.StreamResponse:
    id_, context = path_id(request, "mon", WHAT), context_of(request)
    means = common.service_context(request)
    await ends.delete(
        context.db,
        context.signals,
        request.app[MONITOR_FOLLOWERS],
        visitor(request).team_id,
        id_,
        context.now(),
        who=means.who,
    )
    return back(request, monitors.HERE, "Monitor deleted, with its history.")
