"""A monitor's page: state and explanation, history, incidents, actions."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.language import gettext
from collector.console.state import visitor
from collector.history.service import statistics
from collector.history.service.statistics import DayOf
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.incidents.service import incidents
from collector.incidents.storage.reads import IncidentFilter
from collector.monitors.api import explain_views, views
from collector.monitors.api.context import MONITOR_FOLLOWERS
from collector.monitors.console import (
    checks,
    days,
    facts,
    monitors,
    reports,
    response,
    timeline,
    types,
    web3,
)
from collector.monitors.console.page_query import PageQuery
from collector.monitors.service import ends, explain, reads, runs
from collector.monitors.service import monitors as service
from collector.monitors.service.reads import WHAT
from collector.platform.monitor import Silence
from collector.platform.validation.validation import check
from shared import ids
from shared.clock import iso
from shared.errors import Invalid, Unavailable

_DAYS: Final = 90
_INCIDENTS: Final = 20


async def show(request: web.Request) -> web.StreamResponse:
    context, team_id = context_of(request), visitor(request).team_id
    id_, now = path_id(request, "mon", WHAT), context_of(request).now()
    db = context.db
    found = await reads.one(db, context.keyring, team_id, id_, secrets=False, now=now)
    view = response.view(request.query, now)
    past, _ = await incidents.page(db, team_id, IncidentFilter(monitor_id=id_), _INCIDENTS, 0)
    report = await reports.card(request, found.monitor)
    interval = (
        report.pings.plan.wait_from(now)
        if report and report.pings
        else timedelta(seconds=found.monitor.interval_s)
    )
    why = explain_views.explained(await explain.explain(db, team_id, id_, now), now)
    return page(
        request,
        "monitor.html.j2",
        monitor=found.monitor,
        id=ids.show("mon", id_),
        shown=views.whole(found, now),
        unmeasured=views.unmeasured(found, now),
        config=facts.of(found),
        target=facts.target(found.config),
        report=report,
        why=why,
        days=days.drawn(await _days(request, id_), past),
        query=PageQuery.of(request.query),
        response=await response.read(db, found.monitor.monitor, view, now, interval),
        ranges=list(response.RANGES),
        lines=response.LINES,
        checks=await checks.read(db, found.monitor, request.query, view, now),
        phases=checks.PHASES,
        statuses=checks.STATUSES,
        chain=await web3.found(db, found.monitor, types.kind_of(found.monitor.type, found.config), now),
        timeline=timeline.of(why, past),
        now=now,
    )


async def _days(request: web.Request, id_: UUID) -> list[DayOf]:
    context = context_of(request)
    found = await statistics.daily_of(context.db, visitor(request).team_id, [id_], _DAYS, context.now())
    return found[id_].days if id_ in found else []


async def check_now(request: web.Request) -> web.StreamResponse:
    """Check the monitor once, and show the outcome; it is not kept and decides nothing."""
    context, team_id = context_of(request), visitor(request).team_id
    id_, now = path_id(request, "mon", WHAT), context_of(request).now()
    try:
        checked = await runs.check_now(context.db, context.signals, context.keyring, team_id, id_, now)
    except Unavailable as fault:
        return back(
            request, monitors.path(id_), gettext("Not checked: %(reason)s.", reason=fault), tone="warn"
        )
    tested = views.tested(checked, [])
    return back(
        request,
        monitors.path(id_),
        gettext("Checked just now: %(outcome)s.", outcome=tested.message),
        tone="good" if tested.success else "bad",
    )


async def pause(request: web.Request) -> web.StreamResponse:
    id_ = path_id(request, "mon", WHAT)
    await service.pause(
        common.service_context(request), visitor(request).team_id, id_, context_of(request).now()
    )
    return back(
        request, monitors.path(id_), "Paused: checks stopped, no one is notified.", undo=_path(id_, "resume")
    )


async def resume(request: web.Request) -> web.StreamResponse:
    id_ = path_id(request, "mon", WHAT)
    await service.resume(
        common.service_context(request), visitor(request).team_id, id_, context_of(request).now()
    )
    return back(
        request, monitors.path(id_), "Resumed: the next check starts at once.", undo=_path(id_, "pause")
    )


async def silence(request: web.Request) -> web.StreamResponse:
    id_, form = path_id(request, "mon", WHAT), await posted(request)
    length = value(form, "duration")
    body = {"duration": int(length) if length.isdigit() else length, "reason": value(form, "reason")}
    try:
        wanted, _ = check(Silence, {name: one for name, one in body.items() if one != ""})
    except Invalid as fault:
        words = "; ".join(f"{name}: {text}" for name, text in fault.details.items())
        return back(request, monitors.path(id_), words, tone="bad")
    mine = visitor(request)
    until = await service.silence(
        common.service_context(request), mine.team_id, id_, wanted, mine.name, context_of(request).now()
    )
    return back(
        request,
        monitors.path(id_),
        gettext("Muted until %(time)s: no one is notified.", time=iso(until)),
        undo=_path(id_, "unsilence"),
    )


def _path(id_: UUID, action: str) -> str:
    return f"{monitors.path(id_)}/{action}"


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
