"""Monitors: create, read, update, delete, test, pause, silence."""

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller, service_context
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.monitors.answers import PausedMonitor, ResumedMonitor, SilencedMonitor
from collector.monitors.api import views
from collector.monitors.api.context import MONITOR_FOLLOWERS, addresses, scope_of
from collector.monitors.service import creation, ends, fields, monitors, report_secrets, runs
from collector.monitors.service import reads as monitor_reads
from collector.monitors.service.reads import WHAT
from collector.monitors.storage.lists import MonitorFilter
from collector.monitors.storage.monitors import Monitor
from collector.platform.access import Permission
from collector.platform.monitor import Silence
from collector.platform.validation.validation import check, ignored
from collector.web3 import api
from collector.web3.service import reads as web3_reads
from shared import ids
from shared.kinds import TYPES

_STATUSES = ("up", "down", "paused")


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.page(query)
    wanted = MonitorFilter(
        status=query.one_of("status", _STATUSES),
        type=query.one_of("type", TYPES),
        group=query.text("group"),
        tag=query.text("tag"),
        text=query.text("search"),
    )
    query.done()
    context = context_of(request)
    monitors, total = await monitor_reads.page(
        context.db, caller(request).team_id, wanted, at.limit, at.offset
    )
    now = context.now()
    return pages.answer(request, at, [views.item(monitor, now) for monitor in monitors], total)


async def create(request: web.Request) -> web.Response:
    sent = await body(request)
    scope = scope_of(request)  # after the body, which may take its time: the monitor is created now
    saved = await creation.create(scope.context, scope.team_id, sent, scope.now)
    answer = views.created(saved, report_secrets.made_by(saved, scope.addresses))
    place = f"{scope.addresses.base_url}/monitors/{answer.id}"
    return ok(answer, 201, {"Location": place, **conditional.tagged(saved.monitor.revision)})


async def get(request: web.Request) -> web.Response:
    context, who = context_of(request), caller(request)
    id_ = path_id(request, "mon", WHAT)
    if conditional.asks(request):
        known = await monitor_reads.found(context.db, who.team_id, id_)
        if (same := conditional.unchanged(request, known.revision)) is not None:
            return same
    now = context.now()
    full = who.permission is not Permission.READ_ONLY
    found = await monitor_reads.one(context.db, context.keyring, who.team_id, id_, secrets=full, now=now)
    config = report_secrets.shown(found.monitor, views.config_of(found), addresses(request))
    raised = await web3_reads.alerts(context.db, found.monitor)
    alerts = None if raised is None else api.alerts(raised)
    answer = views.whole_json(found, config, alerts, now)
    return ok(answer, headers=conditional.shown(found.monitor.revision))


async def update(request: web.Request) -> web.Response:
    id_ = (await _found(request)).id
    only = conditional.only(request)
    saved = await monitors.update(
        service_context(request),
        caller(request).team_id,
        id_,
        await body(request),
        context_of(request).now(),
        only=only,
    )
    named = conditional.tagged(saved.monitor.revision)
    return ok(views.updated(saved.monitor, saved.warnings), headers=named)


async def delete(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = (await _found(request)).id
    only = conditional.only(request)
    await ends.delete(
        context.db,
        context.signals,
        request.app[MONITOR_FOLLOWERS],
        caller(request).team_id,
        id_,
        context.now(),
        only=only,
        who=actor(request),
    )
    return no_content()


async def test(request: web.Request) -> web.Response:
    """Run a check once; a failing target is a result, not an error."""
    context = context_of(request)
    monitor_request = fields.for_test(await body(request), context.nodes)
    team_id = caller(request).team_id
    tested = await runs.try_out(
        context.db, context.signals, context.keyring, team_id, monitor_request, context.now()
    )
    return ok(views.tested(tested, monitor_request.all_warnings()))


async def check_now(request: web.Request) -> web.Response:
    """Run the check of a monitor once; a failing target is a result, not an error."""
    context, team_id = context_of(request), caller(request).team_id
    checked = await runs.check_now(
        context.db, context.signals, context.keyring, team_id, path_id(request, "mon", WHAT), context.now()
    )
    return ok(views.tested(checked, []))


async def pause(request: web.Request) -> web.Response:
    id_ = path_id(request, "mon", WHAT)
    paused = await monitors.pause(
        service_context(request), caller(request).team_id, id_, context_of(request).now()
    )
    return ok(
        PausedMonitor(
            id=ids.show("mon", id_), status="paused", paused_at=paused.paused_at or paused.updated_at
        )
    )


async def resume(request: web.Request) -> web.Response:
    """Resume a monitor; one that runs already shows its last change."""
    id_ = path_id(request, "mon", WHAT)
    resumed = await monitors.resume(
        service_context(request), caller(request).team_id, id_, context_of(request).now()
    )
    shown = views.shown_status(resumed)
    return ok(ResumedMonitor(id=ids.show("mon", id_), status=shown, resumed_at=resumed.updated_at))


async def silence(request: web.Request) -> web.Response:
    who = caller(request)
    id_ = (await _found(request)).id
    wanted, unknown = check(Silence, await body(request))
    until = await monitors.silence(
        service_context(request), who.team_id, id_, wanted, who.name, context_of(request).now()
    )
    warnings = ignored(unknown) or None
    return ok(SilencedMonitor(silenced_until=until, reason=wanted.reason, warnings=warnings))


async def unsilence(request: web.Request) -> web.Response:
    await monitors.unsilence(service_context(request), caller(request).team_id, path_id(request, "mon", WHAT))
    return no_content()


async def _found(request: web.Request) -> Monitor:
    """Return the monitor of the path before the body is read: 404 comes before 400."""
    id_ = path_id(request, "mon", WHAT)
    return await monitor_reads.found(context_of(request).db, caller(request).team_id, id_)
