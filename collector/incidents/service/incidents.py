"""Reads and creates incidents for callers."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.events.core import downtime, events
from collector.incidents.storage import reads
from collector.incidents.storage.reads import Incident, IncidentFilter, IncidentLogEntry, IncidentNote
from collector.monitors.storage import explain_reads
from collector.monitors.storage.explain_reads import DeliveryRow
from collector.platform.storage.db import Db
from collector.platform.validation.shapes import members
from shared import ids
from shared.errors import NotFound

WHAT = "Incident"
# Fields that a GET shows and that callers cannot set, unless the body has a field of that name.
_SHOWN = frozenset(
    {"id", "monitorId", "monitorName", "status", "startedAt", "createdAt", "acknowledgedAt", "acknowledgedBy"}
    | {"resolvedAt", "resolvedBy", "resolutionNote", "reopenedAt", "downtime", "downtimeFormatted"}
    | {"failureCount", "lastError", "parentIncidentId", "notes", "warnings"}
)
_EVENTS = 50
_CHANNELS = 100
# The recovery is announced a little later.
_AFTER = timedelta(minutes=5)


async def page(
    db: Db, team_id: int, wanted: IncidentFilter, limit: int, offset: int
) -> tuple[list[Incident], int]:
    """Return a page of incidents, newest first, and their total number."""
    async with db.connection() as tx:
        total = await reads.count(tx, team_id, wanted)
        found = await reads.newest(tx, team_id, wanted, limit, offset) if offset < total else []
    return found, total


async def one(db: Db, team_id: int, id_: UUID) -> tuple[Incident, list[IncidentNote]]:
    """Return an incident with its notes. Raises NotFound."""
    async with db.connection() as tx:
        incident = await reads.one(tx, team_id, id_)
        if incident is None:
            raise NotFound(f"{WHAT} not found")
        return incident, await reads.notes(tx, team_id, id_)


async def timeline(db: Db, team_id: int, id_: UUID) -> list[IncidentLogEntry]:
    """Return an incident's timeline. Raises NotFound."""
    async with db.connection() as tx:
        if not await reads.exists(tx, team_id, id_):
            raise NotFound(f"{WHAT} not found")
        return await reads.timeline(tx, team_id, id_)


async def told(db: Db, team_id: int, incident: Incident) -> list[DeliveryRow]:
    """Return deliveries about its monitor, or it alone, while it was open and just after, newest first."""
    stream = incident.monitor_id or incident.id
    async with db.connection() as tx:
        found = await explain_reads.told(tx, team_id, stream, sorted(events.CHANGES), _EVENTS, _CHANNELS)
    until = None if incident.resolved_at is None else incident.resolved_at + _AFTER
    return [one for one in found if one.at >= incident.created_at and (until is None or one.at <= until)]


def lasted_s(incident: Incident, now: datetime) -> int:
    """Return the seconds of its open spans up to *now*; a present pause ends the last span."""
    ended = incident.status == "resolved"
    return downtime.seconds(
        incident.spans_s, None if ended else incident.span_from, incident.paused_at or now
    )


def shown(incident: Incident, now: datetime) -> dict[str, Any]:
    """Return an incident as lists and reads show it."""
    seconds = lasted_s(incident, now)
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
        "downtime": seconds,
        "downtimeFormatted": downtime.formatted(seconds),
        "failureCount": incident.failure_count,
        "lastError": incident.last_error,
        "parentIncidentId": _id(incident.parent_incident_id),
    }


def settable(body: Mapping[str, Any], fields: type) -> dict[str, Any]:
    """Return *body* without fields that a GET shows but *fields* lacks."""
    mine = members(fields)
    return {name: value for name, value in body.items() if name in mine or name not in _SHOWN}


def _id(incident: UUID | None) -> str | None:
    return None if incident is None else ids.show("inc", incident)
