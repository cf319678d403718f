"""Monitors: make, read, change, delete, test, pause, silence; and their results."""

import base64
import binascii
from datetime import datetime, timedelta

from aiohttp import web

from collector.api import monitor_views as views
from collector.api import paging
from collector.api.auth import caller
from collector.api.deps import deps
from collector.api.reading import Query, body, no_content, ok, path_id, warned
from collector.core.access import Permission
from collector.core.monitor import Silence
from collector.services import monitor_ends, monitor_fields, monitor_reads, monitors, runs
from collector.services.monitor_reads import WHAT
from collector.services.validation import check, ignored
from collector.storage.monitor_lists import Wanted
from collector.storage.monitors import Monitor
from collector.storage.result_reads import Cursor
from collector.storage.result_reads import Wanted as WantedResults
from shared import ids
from shared.clock import EPOCH
from shared.kinds import KINDS, NOT_YET
from shared.results import Status

_STATUSES = ("up", "down", "paused")
_TYPES = (*KINDS, *NOT_YET)
_RESULT = {"up": Status.UP, "down": Status.DOWN, "unknown": Status.UNKNOWN}
_RESULTS_LIMIT = 100
_RESULTS_MOST = 1000
_DEFAULT_RANGE = timedelta(days=1)


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = paging.page(query)
    wanted = Wanted(
        status=query.one_of("status", _STATUSES),
        type=query.one_of("type", _TYPES),
        group=query.text("group"),
        tag=query.text("tag"),
    )
    query.done()
    at_hand = deps(request)
    found, total = await monitor_reads.page(at_hand.db, caller(request).team_id, wanted, at.limit, at.offset)
    now = at_hand.now()
    return paging.answer(request, at, [views.item(one, now) for one in found], total)


async def create(request: web.Request) -> web.Response:
    told = await monitors.create(
        _means(request), caller(request).team_id, await body(request), deps(request).now()
    )
    place = f"{deps(request).public_url}/v1/monitors/{ids.show('mon', told.monitor.id)}"
    return ok(warned(views.created(told.monitor), told.warnings), 201, {"Location": place})


async def get(request: web.Request) -> web.Response:
    at_hand, who = deps(request), caller(request)
    id_ = path_id(request, "mon", WHAT)
    now = at_hand.now()
    full = who.permission is not Permission.READ_ONLY
    found = await monitor_reads.one(at_hand.db, at_hand.keyring, who.team_id, id_, secrets=full, now=now)
    return ok(views.whole(found, now))


async def update(request: web.Request) -> web.Response:
    id_ = (await _found(request)).id
    told = await monitors.update(
        _means(request), caller(request).team_id, id_, await body(request), deps(request).now()
    )
    return ok(warned(views.updated(told.monitor), told.warnings))


async def delete(request: web.Request) -> web.Response:
    at_hand = deps(request)
    id_ = path_id(request, "mon", WHAT)
    await monitor_ends.delete(at_hand.db, at_hand.signals, caller(request).team_id, id_, at_hand.now())
    return no_content()


async def test(request: web.Request) -> web.Response:
    """A failing target is an answer, not an error."""
    at_hand = deps(request)
    wish = monitor_fields.for_test(await body(request))
    trial, kind = wish.checked()
    tested = await runs.test(
        at_hand.db,
        at_hand.signals,
        at_hand.keyring,
        team_id=caller(request).team_id,
        type_=monitors.kind_name(kind),
        config=monitor_fields.stored(kind),
        timeout_s=trial.timeout,
        locations=trial.locations or [],
        now=at_hand.now(),
    )
    return ok(warned(views.tested(tested), ignored(wish.unknown)))


async def results(request: web.Request) -> web.Response:
    at_hand = deps(request)
    monitor = await _found(request)
    query = Query(request)
    limit = paging.limit(query, default=_RESULTS_LIMIT, most=_RESULTS_MOST)
    wanted = _wanted_results(query, at_hand.now())
    query.done()
    shown, total = await monitor_reads.results(at_hand.db, monitor, wanted, limit)
    meta = {
        "total": total,
        "from": wanted.since,
        "to": wanted.until,
        "limit": limit,
        "next": _show_cursor(shown[-1].cursor) if len(shown) == limit else None,
    }
    return ok({"data": [views.result(one) for one in shown], "meta": meta})


async def pause(request: web.Request) -> web.Response:
    id_ = path_id(request, "mon", WHAT)
    paused = await monitors.pause(_means(request), caller(request).team_id, id_, deps(request).now())
    return ok({"id": ids.show("mon", id_), "status": "paused", "pausedAt": paused.paused_at})


async def resume(request: web.Request) -> web.Response:
    """Its last change was the resume, also when this one changes nothing."""
    id_ = path_id(request, "mon", WHAT)
    resumed = await monitors.resume(_means(request), caller(request).team_id, id_, deps(request).now())
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
    until = await monitors.silence(_means(request), who.team_id, id_, wanted, who.name, deps(request).now())
    return ok(warned({"silencedUntil": until, "reason": wanted.reason}, ignored(unknown)))


async def unsilence(request: web.Request) -> web.Response:
    await monitors.unsilence(_means(request), caller(request).team_id, path_id(request, "mon", WHAT))
    return no_content()


async def _found(request: web.Request) -> Monitor:
    """The monitor of the path, asked for before what was sent is read: 404 comes before 400."""
    id_ = path_id(request, "mon", WHAT)
    return await monitor_reads.found(deps(request).db, caller(request).team_id, id_)


def _means(request: web.Request) -> monitors.Means:
    at_hand = deps(request)
    return monitors.Means(at_hand.db, at_hand.keyring, at_hand.signals, at_hand.min_interval)


def _wanted_results(query: Query, now: datetime) -> WantedResults:
    """The last 24 h, or the 24 h before ``to``, unless the query says more."""
    since, until = query.span()
    until = until or max(now, since or now)
    if since is None:
        since = until - _DEFAULT_RANGE if until > EPOCH + _DEFAULT_RANGE else until
    status = query.one_of("status", tuple(_RESULT))
    return WantedResults(
        since=since,
        until=until,
        location=query.text("location"),
        status=_RESULT[status] if status else None,
        before=_read_cursor(query),
    )


def _show_cursor(cursor: Cursor) -> str:
    ms = (cursor.ts - EPOCH) // timedelta(milliseconds=1)
    return base64.urlsafe_b64encode(f"{ms}.{cursor.location}.{cursor.n}".encode()).decode().rstrip("=")


def _read_cursor(query: Query) -> Cursor | None:
    text = query.text("cursor")
    if text is None:
        return None
    try:
        ms, location, n = (int(part) for part in base64.urlsafe_b64decode(text + "==").split(b"."))
        return Cursor(EPOCH + timedelta(milliseconds=ms), _small(location), _small(n))
    except (ValueError, OverflowError, binascii.Error):
        query.fault("cursor", "must be meta.next of an earlier answer")
        return None


def _small(value: int) -> int:
    if not 0 <= value < 2**15:
        raise ValueError("no such number in a key")
    return value
