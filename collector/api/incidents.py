"""Incidents: list, one, and its timeline."""

from datetime import datetime
from typing import Any
from uuid import UUID

from aiohttp import web

from collector.api import paging
from collector.api.auth import caller
from collector.api.deps import deps
from collector.api.reading import Query, ok, path_id
from collector.core import downtime
from collector.services import incidents
from collector.storage.incident_reads import Entry, Incident, Note, Wanted
from shared import ids

_STATUSES = ("open", "acknowledged", "resolved")
_SEVERITIES = ("critical", "high", "medium", "low")


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = paging.page(query)
    since, until = query.span()
    wanted = Wanted(
        status=query.one_of("status", _STATUSES),
        severity=query.one_of("severity", _SEVERITIES),
        monitor_id=query.id("monitor_id", "mon"),
        since=since,
        until=until,
    )
    query.done()
    at_hand = deps(request)
    found, total = await incidents.page(at_hand.db, caller(request).team_id, wanted, at.limit, at.offset)
    now = at_hand.now()
    return paging.answer(request, at, [shown(incident, now) for incident in found], total)


async def get(request: web.Request) -> web.Response:
    at_hand = deps(request)
    id_ = path_id(request, "inc", incidents.WHAT)
    incident, notes = await incidents.one(at_hand.db, caller(request).team_id, id_)
    return ok({**shown(incident, at_hand.now()), "notes": [_note(incident.id, note) for note in notes]})


async def timeline(request: web.Request) -> web.Response:
    id_ = path_id(request, "inc", incidents.WHAT)
    entries = await incidents.timeline(deps(request).db, caller(request).team_id, id_)
    return ok({"events": [_entry(entry) for entry in entries]})


def shown(incident: Incident, now: datetime) -> dict[str, Any]:
    """An incident as lists and reads show it."""
    ended = incident.status == "resolved"
    lasted_s = downtime.seconds(
        incident.spans_s, None if ended else incident.span_from, incident.paused_at or now
    )
    return {
        "id": ids.show("inc", incident.id),
        "title": incident.title,
        "description": incident.description,
        "monitorId": None if incident.monitor_id is None else ids.show("mon", incident.monitor_id),
        "monitorName": incident.monitor_name,
        "status": incident.status,
        "severity": incident.severity,
        "startedAt": incident.started_at,
        "createdAt": incident.created_at,
        "acknowledgedAt": incident.acknowledged_at,
        "acknowledgedBy": incident.acknowledged_by,
        "resolvedAt": incident.resolved_at,
        "resolvedBy": incident.resolved_by,
        "resolutionNote": incident.resolution_note,
        "reopenedAt": incident.reopened_at,
        "downtime": lasted_s,
        "downtimeFormatted": downtime.formatted(lasted_s),
        "failureCount": incident.failure_count,
        "lastError": incident.last_error,
    }


def _note(incident_id: UUID, note: Note) -> dict[str, Any]:
    return {
        "id": ids.show("note", note.id),
        "incidentId": ids.show("inc", incident_id),
        "text": note.text,
        "createdBy": note.created_by["name"],
        "createdAt": note.created_at,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "type": entry.type,
        "timestamp": entry.at,
        "actor": entry.actor,
        "details": entry.details,
    }
