"""Incidents: list, read with log and post-mortem, create, acknowledge, resolve, reopen, add notes."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, ok, path_id, warned
from collector.incidents.core.fields import Changes, NewIncident, NewNote, ReopenRequest, Resolution
from collector.incidents.core.stats import GROUPS, dates
from collector.incidents.service import actions, incidents, postmortem
from collector.incidents.service import evidence as incident_evidence
from collector.incidents.service import stats as incident_stats
from collector.incidents.storage.reads import IncidentFilter, IncidentLogEntry, IncidentNote
from collector.platform.validation.validation import check, ignored
from shared import ids
from shared.clock import EPOCH

_STATUSES = ("open", "acknowledged", "resolved")
_DEFAULT_RANGE = timedelta(days=30)
_MOST_GROUPS = 3_660


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.page(query)
    since, until = query.span()
    wanted = IncidentFilter(
        status=query.one_of("status", _STATUSES),
        severity=query.one_of("severity", incident_stats.SEVERITIES),
        monitor_id=query.id("monitor_id", "mon"),
        since=since,
        until=until,
    )
    query.done()
    context = context_of(request)
    found, total = await incidents.page(context.db, caller(request).team_id, wanted, at.limit, at.offset)
    now = context.now()
    return pages.answer(request, at, [incidents.shown(incident, now) for incident in found], total)


async def get(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = path_id(request, "inc", incidents.WHAT)
    incident, notes = await incidents.one(context.db, caller(request).team_id, id_)
    return ok(
        {**incidents.shown(incident, context.now()), "notes": [_note(incident.id, note) for note in notes]}
    )


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    sent = incidents.settable(await body(request), NewIncident)
    made, unknown = await actions.raise_(context.db, actor(request), sent, context.now())
    answer = {
        "id": ids.show("inc", made.id),
        "title": made.title,
        "status": made.status,
        "severity": made.severity,
        "createdAt": made.created_at,
    }
    place = f"{context.public_url}/v1/incidents/{answer['id']}"
    return ok(warned(answer, ignored(unknown)), 201, {"Location": place})


async def update(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(Changes, incidents.settable(await body(request), Changes))
    changed = await actions.change(context.db, actor(request), id_, wanted, context.now())
    return ok(warned(incidents.shown(changed, context.now()), ignored(unknown)))


async def acknowledge(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "inc", incidents.WHAT)
    done = await actions.acknowledge(context.db, actor(request), id_, context.now())
    return ok(
        {
            "id": ids.show("inc", id_),
            "status": done.status,
            "acknowledgedAt": done.acknowledged_at,
            "acknowledgedBy": done.acknowledged_by,
        }
    )


async def resolve(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(Resolution, await body(request))
    now = context.now()
    done = await actions.resolve(context.db, actor(request), id_, wanted.resolution_note, now)
    answer = {
        "id": ids.show("inc", id_),
        "status": done.status,
        "resolvedAt": done.resolved_at,
        "resolvedBy": done.resolved_by,
        "downtime": incidents.lasted_s(done, now),
        "resolutionNote": done.resolution_note,
    }
    return ok(warned(answer, ignored(unknown)))


async def reopen(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(ReopenRequest, await body(request))
    done = await actions.reopen(context.db, actor(request), id_, wanted.reason, context.now())
    answer = {"id": ids.show("inc", id_), "status": done.status, "reopenedAt": done.reopened_at}
    return ok(warned(answer, ignored(unknown)))


async def add_note(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(NewNote, await body(request))
    note = await actions.add_note(context.db, actor(request), id_, wanted.text, context.now())
    answer = {**_note(id_, note), "createdBy": note.created_by}
    return ok(warned(answer, ignored(unknown)), 201)


async def stats(request: web.Request) -> web.Response:
    context, query = context_of(request), Query(request)
    since, until = query.span()
    now = context.now()
    until = until or max(now, since or now)
    since = since or max(until - _DEFAULT_RANGE, EPOCH) if until > EPOCH else until
    group = query.one_of("group_by", tuple(GROUPS)) or "day"
    if sum(1 for _ in zip(dates(group, since, until), range(_MOST_GROUPS + 1), strict=False)) > _MOST_GROUPS:
        query.fault(
            "from", f"makes more than {_MOST_GROUPS} groups; ask for weeks or months, or a shorter time"
        )
    query.done()
    found = await incident_stats.stats(context.db, caller(request).team_id, group, since, until, now)
    return ok(
        {
            "totalIncidents": found.incidents,
            "openIncidents": found.unresolved,
            "mttr": found.mttr,
            "mtta": found.mtta,
            "avgDowntime": found.avg_downtime,
            "bySeverity": found.by_severity,
            GROUPS[group]: [
                {"date": one.date.isoformat(), "incidents": one.incidents, "avgDowntime": one.avg_downtime}
                for one in found.groups
            ],
        }
    )


async def post_mortem(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "inc", incidents.WHAT)
    team_id = caller(request).team_id
    text = await postmortem.write(context.db, context.keyring, team_id, id_, context.now())
    return web.Response(text=text, content_type="text/markdown", charset="utf-8")


async def evidence(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "inc", incidents.WHAT)
    kept = await incident_evidence.of_incident(context.db, context.keyring, caller(request).team_id, id_)
    return ok({"evidence": [{"location": one.location, "timestamp": one.at, **one.saw} for one in kept]})


async def timeline(request: web.Request) -> web.Response:
    id_ = path_id(request, "inc", incidents.WHAT)
    entries = await incidents.timeline(context_of(request).db, caller(request).team_id, id_)
    return ok({"events": [_entry(entry) for entry in entries]})


async def _found(request: web.Request) -> UUID:
    """Return the id in the path after checking that the incident exists, so that 404 comes before 400."""
    id_ = path_id(request, "inc", incidents.WHAT)
    await incidents.one(context_of(request).db, caller(request).team_id, id_)
    return id_


def _note(incident_id: UUID, note: IncidentNote) -> dict[str, Any]:
    return {
        "id": ids.show("note", note.id),
        "incidentId": ids.show("inc", incident_id),
        "text": note.text,
        "createdBy": note.created_by["name"],
        "createdAt": note.created_at,
    }


def _entry(entry: IncidentLogEntry) -> dict[str, Any]:
    return {
        "type": entry.type,
        "timestamp": entry.at,
        "actor": entry.actor,
        "details": entry.details,
    }
