"""Reads and creates incidents for callers."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.events.core import downtime
from collector.events.core.kinds import CHANGES
from collector.incidents.answers import IncidentAnswer, IncidentDetails
from collector.incidents.core.fields import Changes
from collector.incidents.core.postmortem import Checks
from collector.incidents.core.status import IncidentStatus
from collector.incidents.storage import reads
from collector.incidents.storage.reads import Incident, IncidentFilter, IncidentLogEntry, IncidentNote
from collector.monitors.storage import explain_reads
from collector.monitors.storage.explain_reads import DeliveryRow
from collector.platform.answer_json import read_only
from collector.platform.people import person
from collector.platform.storage.db import Db
from collector.platform.validation.shapes import members
from shared import ids
from shared.errors import NotFound

WHAT = "Incident"
# Fields that a GET shows and that callers cannot set, unless the body has a field of that name.
_READ_ONLY = read_only(IncidentDetails, Changes)
_EVENTS = 50
_CHANNELS = 100
# The recovery is announced a little later.
_AFTER = timedelta(minutes=5)
# Of a long outage the beginning tells where it failed, and costs no page the reading of weeks.
_FIRST = timedelta(days=1)


async def page(
    db: Db, team_id: int, wanted: IncidentFilter, limit: int, offset: int
) -> tuple[list[Incident], int]:
    """Return a page of incidents, newest first, and their total number."""
    async with db.connection() as tx:
        total = await reads.count(tx, team_id, wanted)
        incidents = await reads.newest(tx, team_id, wanted, limit, offset) if offset < total else []
    return incidents, total


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


async def notifications(db: Db, team_id: int, incident: Incident) -> list[DeliveryRow]:
    """Return deliveries about its monitor, or it alone, while it was open and just after, newest first."""
    stream = incident.monitor_id or incident.id
    async with db.connection() as tx:
        deliveries = await explain_reads.notifications(
            tx, team_id, stream, sorted(CHANGES), _EVENTS, _CHANNELS
        )
    until = None if incident.resolved_at is None else incident.resolved_at + _AFTER
    return [
        delivery
        for delivery in deliveries
        if delivery.at >= incident.created_at and (until is None or delivery.at <= until)
    ]


async def checks(db: Db, team_id: int, incident: Incident, now: datetime) -> list[Checks]:
    """Return the checks of its monitor by location while it was open, of its first day at most."""
    until = min(incident.resolved_at or now, incident.started_at + _FIRST)
    async with db.connection() as tx:
        return await reads.checks(tx, team_id, incident.id, until)


def lasted_s(incident: Incident, now: datetime) -> int:
    """Return the seconds of its open spans up to *now*; a present pause ends the last span."""
    ended = incident.status is IncidentStatus.RESOLVED
    return downtime.seconds(
        incident.spans_s, None if ended else incident.span_from, incident.paused_at or now
    )


def shown(incident: Incident, now: datetime) -> IncidentAnswer:
    """Return an incident as lists, reads and events show it."""
    seconds = lasted_s(incident, now)
    return IncidentAnswer(
        id=ids.show("inc", incident.id),
        title=incident.title,
        description=incident.description,
        monitor_id=None if incident.monitor_id is None else ids.show("mon", incident.monitor_id),
        monitor_name=incident.monitor_name,
        status=incident.status,
        severity=incident.severity,
        started_at=incident.started_at,
        created_at=incident.created_at,
        acknowledged_at=incident.acknowledged_at,
        acknowledged_by=person(incident.acknowledged_by),
        resolved_at=incident.resolved_at,
        resolved_by=person(incident.resolved_by),
        resolution_note=incident.resolution_note,
        reopened_at=incident.reopened_at,
        downtime=seconds,
        downtime_formatted=downtime.formatted(seconds),
        failure_count=incident.failure_count,
        last_error=incident.last_error,
        snoozed_until=incident.snoozed(now),
        parent_incident_id=_id(incident.parent_incident_id),
    )


def settable(body: Mapping[str, Any], fields: type) -> dict[str, Any]:
    """Return *body* without fields that a GET shows but *fields* lacks."""
    mine = members(fields)
    return {name: value for name, value in body.items() if name in mine or name not in _READ_ONLY}


def _id(incident: UUID | None) -> str | None:
    return None if incident is None else ids.show("inc", incident)
