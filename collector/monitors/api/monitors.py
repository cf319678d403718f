"""Monitors: create, read, update, delete, test, pause, silence."""

from typing import Any

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.deps import deps
from collector.http.request_data import Query, body, no_content, ok, path_id, warned
from collector.monitors.api import views
from collector.monitors.service import ends, fields, monitors, report_secrets, runs
from collector.monitors.service import reads as monitor_reads
from collector.monitors.service.columns import whole_config
from collector.monitors.service.reads import WHAT
from collector.monitors.storage.lists import MonitorFilter
from collector.monitors.storage.monitors import Monitor
from collector.platform.access import Permission
from collector.platform.monitor import Silence
from collector.platform.validation.validation import check, ignored
from collector.web3 import api
from collector.web3.service import reads as web3_reads
from shared import ids
from shared.kinds import RECEIVING, TYPES

_STATUSES = ("up", "down", "paused")


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.page(query)
    wanted = MonitorFilter(
        status=query.one_of("status", _STATUSES),
        type=query.one_of("type", TYPES),
        group=query.text("group"),
        tag=query.text("tag"),
    )
    query.done()
    at_hand = deps(request)
    found, total = await monitor_reads.page(at_hand.db, caller(request).team_id, wanted, at.limit, at.offset)
    now = at_hand.now()
    return pages.answer(request, at, [views.item(one, now) for one in found], total)


async def create(request: web.Request) -> web.Response:
    told = await monitors.create(
        service_context(request), caller(request).team_id, await body(request), deps(request).now()
    )
    place = f"{deps(request).public_url}/v1/monitors/{ids.show('mon', told.monitor.id)}"
    named = {"Location": place, **conditional.tagged(told.monitor.revision)}
    made = made_for(request, told.monitor)
    answer = views.created(told.monitor) | ({"config": made} if made else {})
    return ok(warned(answer, told.warnings), 201, named)


async def get(request: web.Request) -> web.Response:
    at_hand, who = deps(request), caller(request)
    id_ = path_id(request, "mon", WHAT)
    if conditional.asks(request):
        known = await monitor_reads.found(at_hand.db, who.team_id, id_)
        if (same := conditional.unchanged(request, known.revision)) is not None:
            return same
    now = at_hand.now()
    full = who.permission is not Permission.READ_ONLY
    found = await monitor_reads.one(at_hand.db, at_hand.keyring, who.team_id, id_, secrets=full, now=now)
    shown = views.whole(found, now)
    config = report_secrets.shown(found.monitor, shown["config"], addresses(request))
    raised = await web3_reads.alerts(at_hand.db, found.monitor)
    more = {} if raised is None else {"alerts": api.alerts(raised)}
    return ok({**shown, "config": config, **more}, headers=conditional.shown(found.monitor.revision))


async def update(request: web.Request) -> web.Response:
    id_ = (await _found(request)).id
    only = conditional.only(request)
    told = await monitors.update(
        service_context(request),
        caller(request).team_id,
        id_,
        await body(request),
        deps(request).now(),
        only=only,
    )
    named = conditional.tagged(told.monitor.revision)
    return ok(warned(views.updated(told.monitor), told.warnings), headers=named)


async def delete(request: web.Request) -> web.Response:
    at_hand = deps(request)
    id_ = (await _found(request)).id
    only = conditional.only(request)
    await ends.delete(
        at_hand.db,
        at_hand.signals,
        caller(request).team_id,
        id_,
        at_hand.now(),
        only=only,
        who=actor(request),
    )
    return no_content()


async def test(request: web.Request) -> web.Response:
    """Run a check once; a failing target is a result, not an error."""
    at_hand = deps(request)
    wish = fields.for_test(await body(request), at_hand.nodes)
    team_id = caller(request).team_id
    tested = await runs.try_out(at_hand.db, at_hand.signals, at_hand.keyring, team_id, wish, at_hand.now())
    return ok(warned(views.tested(tested), [*ignored(wish.unknown), *wish.warnings]))


async def pause(request: web.Request) -> web.Response:
    id_ = path_id(request, "mon", WHAT)
    paused = await monitors.pause(service_context(request), caller(request).team_id, id_, deps(request).now())
    return ok({"id": ids.show("mon", id_), "status": "paused", "pausedAt": paused.paused_at})


async def resume(request: web.Request) -> web.Response:
    """Resume a monitor; one that runs already shows its last change."""
    id_ = path_id(request, "mon", WHAT)
    resumed = await monitors.resume(
        service_context(request), caller(request).team_id, id_, deps(request).now()
    )
    return ok(
        {
            "id": ids.show("mon", id_),
            "status": views.shown_status(resumed),
            "resumedAt": resumed.updated_at,
        }
    )


async def silence(request: web.Request) -> web.Response:
    who = caller(request)
    id_ = (await _found(request)).id
    wanted, unknown = check(Silence, await body(request))
    until = await monitors.silence(
        service_context(request), who.team_id, id_, wanted, who.name, deps(request).now()
    )
    return ok(warned({"silencedUntil": until, "reason": wanted.reason}, ignored(unknown)))


async def unsilence(request: web.Request) -> web.Response:
    await monitors.unsilence(service_context(request), caller(request).team_id, path_id(request, "mon", WHAT))
    return no_content()


async def _found(request: web.Request) -> Monitor:
    """Return the monitor of the path before the body is read: 404 comes before 400."""
    id_ = path_id(request, "mon", WHAT)
    return await monitor_reads.found(deps(request).db, caller(request).team_id, id_)


def made_for(request: web.Request, monitor: Monitor) -> dict[str, Any]:
    """Return the address and secret of a monitor that receives reports, for callers who may change it."""
    if monitor.type not in RECEIVING:
        return {}
    config = whole_config(deps(request).keyring, monitor)
    return report_secrets.made(monitor, config, addresses(request))


def addresses(request: web.Request) -> report_secrets.Addresses:
    at_hand = deps(request)
    return report_secrets.Addresses(f"{at_hand.public_url}/v1", at_hand.otlp_url)


def service_context(request: web.Request) -> monitors.ServiceContext:
    """Return the context of the services of monitors."""
    at_hand = deps(request)
    return monitors.ServiceContext(
        at_hand.db,
        at_hand.keyring,
        at_hand.signals,
        at_hand.min_interval,
        actor(request),
        at_hand.nodes,
        at_hand.plans[caller(request).plan],
    )
