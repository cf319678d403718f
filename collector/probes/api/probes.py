"""Probes that serve the team: list, read, rename, drain and revoke."""

from datetime import datetime
from uuid import UUID

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.probes.answers import ProbeAnswer, ProbeCertificate, ProbeLoad
from collector.probes.service import probes
from collector.probes.storage.reads import Probe
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    query.done()
    context = context_of(request)
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    rows, total = await probes.page(context.db, caller(request).team_id, limit, offset)
    shown = [_shown(probe, context.now()) for probe in rows]
    return pages.listed(request, at, shown, total)


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
    probe = await probes.one(context.db, caller(request).team_id, _id(request))
    return ok(_shown(probe, context.now()))


def _id(request: web.Request) -> UUID:
    return path_id(request, "prb", probes.WHAT)


def _shown(probe: Probe, now: datetime) -> ProbeAnswer:
    return ProbeAnswer(
        id=ids.show("prb", probe.probe_id),
        name=probe.name,
        location=probe.locations[0] if probe.locations else None,
        locations=list(probe.locations),
        status=probe.status(now),
        version=probe.version or None,
        last_seen_at=probe.seen_at,
        blind_since=probe.blind_since,
        clock_skew_ms=probe.vitals.get("skewMs"),
        load=_load(probe),
        certificate=_certificate(probe),
        shared=probe.team_id is None,
        stands_in=probe.stands_in,
        draining_since=probe.draining_at,
        revoked_at=probe.revoked_at,
        created_at=probe.created_at,
    )


def _load(probe: Probe) -> ProbeLoad:
    vitals = probe.vitals
    return ProbeLoad(
        monitors=probe.assigned,
        running=vitals.get("running", 0),
        skipped=vitals.get("skipped", 0),
        late_ms=vitals.get("lateUsMax", 0) / 1000,
        spool_batches=vitals.get("spoolBatches", 0),
        spool_bytes=vitals.get("spoolBytes", 0),
    )


def _certificate(probe: Probe) -> ProbeCertificate | None:
    return ProbeCertificate(serial=probe.serial.hex(), not_after=probe.not_after) if probe.serial else None
