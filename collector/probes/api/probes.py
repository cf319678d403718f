"""Probes that serve the team: list, read, rename, drain and revoke."""

from datetime import datetime
from typing import Any
from uuid import UUID

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.probes.service import probes
from collector.probes.storage.reads import Probe
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    query.done()
    context = context_of(request)
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    found, total = await probes.page(context.db, caller(request).team_id, limit, offset)
    shown = [_shown(one, context.now()) for one in found]
    return pages.answer(request, at, shown, total) if at else ok({"data": shown})


async def get(request: web.Request) -> web.Response:
    return await _answer(request)


async def rename(request: web.Request) -> web.Response:
    context = context_of(request)
    await probes.own(context.db, caller(request).team_id, _id(request))
    await probes.rename(context.db, actor(request), _id(request), await body(request))
    return await _answer(request)


async def drain(request: web.Request) -> web.Response:
    context = context_of(request)
    await probes.drain(context.db, actor(request), _id(request), context.now())
    return await _answer(request)


async def undrain(request: web.Request) -> web.Response:
    await probes.drain(context_of(request).db, actor(request), _id(request), None)
    return no_content()


async def revoke(request: web.Request) -> web.Response:
    await _revoke(request)
    return await _answer(request)


async def delete(request: web.Request) -> web.Response:
    await _revoke(request)
    return no_content()


async def _revoke(request: web.Request) -> None:
    context = context_of(request)
    await probes.revoke(context.db, actor(request), _id(request), context.now())
    context.signals.ring()


async def _answer(request: web.Request) -> web.Response:
    context = context_of(request)
    found = await probes.one(context.db, caller(request).team_id, _id(request))
    return ok(_shown(found, context.now()))


def _id(request: web.Request) -> UUID:
    return path_id(request, "prb", probes.WHAT)


def _shown(one: Probe, now: datetime) -> dict[str, Any]:
    said = one.vitals
    certificate = {"serial": one.serial.hex(), "notAfter": one.not_after} if one.serial else None
    return {
        "id": ids.show("prb", one.probe_id),
        "name": one.name,
        "location": one.locations[0] if one.locations else None,
        "locations": one.locations,
        "status": one.status(now),
        "version": one.version or None,
        "lastSeenAt": one.seen_at,
        "blindSince": one.blind_since,
        "clockSkewMs": said.get("skewMs"),
        "load": {
            "monitors": one.assigned,
            "running": said.get("running", 0),
            "skipped": said.get("skipped", 0),
            "lateMs": said.get("lateUsMax", 0) / 1000,
            "spoolBatches": said.get("spoolBatches", 0),
            "spoolBytes": said.get("spoolBytes", 0),
        },
        "certificate": certificate,
        "shared": one.team_id is None,
        "standsIn": one.stands_in,
        "drainingSince": one.draining_at,
        "revokedAt": one.revoked_at,
        "createdAt": one.created_at,
    }
