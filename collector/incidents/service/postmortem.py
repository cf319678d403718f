"""Drafts an incident's post-mortem, and keeps what people write."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from collector.events.core.timeline import TimelineType
from collector.incidents.core.postmortem import (
    Checks,
    FailedCheckEvidence,
    PostmortemFacts,
    PostmortemLine,
    markdown,
)
from collector.incidents.service import evidence
from collector.incidents.service.incidents import WHAT, lasted_s
from collector.incidents.storage import postmortems, reads
from collector.incidents.storage.evidence import EvidenceRow
from collector.incidents.storage.postmortems import Postmortem
from collector.incidents.storage.reads import Incident, IncidentLogEntry, IncidentNote
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.errors import Conflict, NotFound


async def write(db: Db, keyring: Keyring, team_id: int, id_: UUID, now: datetime) -> str:
    """Return the draft in Markdown. Raises NotFound."""
    async with db.connection() as tx:
        incident = await _incident(tx, team_id, id_)
        log = await reads.timeline(tx, team_id, id_)
        notes = await reads.notes(tx, team_id, id_)
        checks = await reads.checks(tx, team_id, id_, incident.resolved_at or now)
        kept = await evidence.shown(tx, keyring, team_id, id_, incident.monitor_id)
    facts = _facts(incident, log, notes, checks, now)
    return markdown(replace(facts, evidence=[_saw(one) for one in kept]))


async def written(db: Db, team_id: int, id_: UUID) -> Postmortem | None:
    """Return the post-mortem that somebody wrote. Raises NotFound without such an incident."""
    async with db.connection() as tx:
        if not await reads.exists(tx, team_id, id_):
            raise NotFound(f"{WHAT} not found")
        return await postmortems.get(tx, team_id, id_)


async def save(db: Db, actor: Actor, id_: UUID, text: str, revision: int, now: datetime) -> None:
    """Write *text* over that of *revision*, 0 for none.

    Raises NotFound; Conflict if somebody else saved it meanwhile.
    """
    async with db.transaction() as tx:
        incident = await _incident(tx, actor.team_id, id_)
        if not await postmortems.save(tx, actor.team_id, id_, text, revision, actor.name, now):
            raise Conflict(await _overtaken(tx, actor.team_id, id_))
        await audit.record(
            tx, actor, "update", "postmortem", ids.show("inc", id_), name=incident.title, fields=("text",)
        )


async def discard(db: Db, actor: Actor, id_: UUID) -> None:
    """Delete what was written, if anything. Raises NotFound."""
    async with db.transaction() as tx:
        incident = await _incident(tx, actor.team_id, id_)
        if await postmortems.delete(tx, actor.team_id, id_):
            await audit.record(tx, actor, "delete", "postmortem", ids.show("inc", id_), name=incident.title)


async def _incident(tx: Tx, team_id: int, id_: UUID) -> Incident:
    incident = await reads.one(tx, team_id, id_)
    if incident is None:
        raise NotFound(f"{WHAT} not found")
    return incident


async def _overtaken(tx: Tx, team_id: int, id_: UUID) -> str:
    present = await postmortems.get(tx, team_id, id_)
    change = f"{present.updated_by} saved another text" if present else "Somebody discarded the text"
    return f"{change} meanwhile. Save again to replace it by what is below."


def _saw(evidence: EvidenceRow) -> FailedCheckEvidence:
    saw = evidence.saw
    return FailedCheckEvidence(
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
        acknowledged_at=incident.acknowledged_at,
        acknowledged_by=incident.acknowledged_by["name"] if incident.acknowledged_by else None,
        acknowledged_s=_seconds(incident.created_at, incident.acknowledged_at),
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


def _seconds(since: datetime, until: datetime | None) -> int | None:
    return None if until is None else int((until - since).total_seconds())
