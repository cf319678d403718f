"""Loads an incident's post-mortem draft."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from collector.events.core.timeline import TimelineType
from collector.incidents.core.postmortem import Checks, PostmortemFacts, PostmortemLine, Saw, markdown
from collector.incidents.service import evidence
from collector.incidents.service.incidents import WHAT, lasted_s
from collector.incidents.storage import reads
from collector.incidents.storage.evidence import EvidenceRow
from collector.incidents.storage.reads import Incident, IncidentLogEntry, IncidentNote
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from shared.errors import NotFound


async def write(db: Db, keyring: Keyring, team_id: int, id_: UUID, now: datetime) -> str:
    """Return the draft in Markdown. Raises NotFound."""
    async with db.connection() as tx:
        incident = await reads.one(tx, team_id, id_)
        if incident is None:
            raise NotFound(f"{WHAT} not found")
        log = await reads.timeline(tx, team_id, id_)
        notes = await reads.notes(tx, team_id, id_)
        checks = await reads.checks(tx, team_id, id_, incident.resolved_at or now)
        kept = await evidence.shown(tx, keyring, team_id, id_, incident.monitor_id)
    facts = _facts(incident, log, notes, checks, now)
    return markdown(replace(facts, evidence=[_saw(one) for one in kept]))


def _saw(evidence: EvidenceRow) -> Saw:
    saw = evidence.saw
    return Saw(
        at=evidence.at,
        location=evidence.location,
        address=saw["address"],
        status_code=saw["statusCode"],
        error=saw["error"],
        phases={name: ms for name, ms in saw["phases"].items() if ms is not None},
        body=saw["body"],
    )


def _facts(
    incident: Incident,
    log: list[IncidentLogEntry],
    notes: list[IncidentNote],
    checks: list[Checks],
    now: datetime,
) -> PostmortemFacts:
    return PostmortemFacts(
        title=incident.title,
        description=incident.description,
        severity=incident.severity,
        status=incident.status,
        monitor=incident.monitor_name,
        started_at=incident.started_at,
        resolved_at=incident.resolved_at,
        downtime_s=lasted_s(incident, now),
        resolution=incident.resolution_note,
        log=[
            PostmortemLine(entry.at, entry.actor, entry.type.replace("_", " "), entry.details)
            for entry in log
            if entry.type != TimelineType.NOTE_ADDED
        ],
        checks=checks,
        notes=[PostmortemLine(note.created_at, note.created_by["name"], "note", note.text) for note in notes],
    )
