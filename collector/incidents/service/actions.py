"""Actions of people on incidents: each is one transaction with an entry in the log.

The database decides which request was first: an update matches only a status that allows it. Resolve and
reopen lock the incident's monitor first, as the evaluation does: otherwise both would be announced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from collector.evaluation import event_writer
from collector.events.core.timeline import TimelineType
from collector.events.storage import events, timeline
from collector.events.storage.timeline import NewTimelineEntry
from collector.incidents.core.fields import Changes, NewIncident
from collector.incidents.service.followers import IncidentFollowers
from collector.incidents.service.incidents import WHAT
from collector.incidents.storage import monitor_incidents, reads, writes
from collector.incidents.storage.reads import Incident, IncidentNote
from collector.monitors.storage import monitors
from collector.platform import audit, references
from collector.platform.access import Actor
from collector.platform.storage.db import Db, Tx
from collector.platform.storage.give_way import giving_way, patiently
from collector.platform.validation.validation import read
from shared import ids
from shared.clock import iso
from shared.errors import Conflict, Invalid, NotFound

_NO_MONITOR = "there is no such monitor"
# The name of each action in the log of the incident and in its event.
_RECORDED_AS = {
    "create": "created",
    "acknowledge": "acknowledged",
    "resolve": "resolved",
    "reopen": "reopened",
    "unacknowledge": "reopened",
    "note": "note_added",
}


async def raise_(db: Db, actor: Actor, sent: Mapping[str, Any], now: datetime) -> tuple[Incident, list[str]]:
    """Create the incident that a body describes; also return its unknown fields. Raises Invalid."""
    found = read(NewIncident, sent)
    if found.value is None:
        named = references.one("mon", "monitorId", sent.get("monitorId"))
        async with db.connection() as tx:
            there = await monitors.known(tx, actor.team_id, list(named.values())) if named else set()
        raise Invalid({**references.strangers(named, there, _NO_MONITOR), **found.faults})
    return await create(db, actor, found.value, now), found.unknown


async def create(db: Db, actor: Actor, wanted: NewIncident, now: datetime) -> Incident:
    """Create an incident. Raises Invalid if its monitor does not belong to the team."""
    id_ = ids.uuid7()
    monitor_id = ids.read("mon", wanted.monitor_id) if wanted.monitor_id else None
    async with db.transaction() as tx:
        if monitor_id and not await monitors.known(tx, actor.team_id, [monitor_id]):
            raise Invalid({"monitorId": _NO_MONITOR})
        await writes.insert(tx, actor.team_id, id_, asdict(wanted), monitor_id, now)
        await _log(tx, actor, id_, TimelineType.CREATED, wanted.title, now)
        return await _announce(tx, actor, "create", id_, now)


async def acknowledge(
    db: Db, followers: IncidentFollowers, actor: Actor, id_: UUID, now: datetime
) -> Incident:
    """Acknowledge the incident and its alerts. Raises NotFound; Conflict unless it is open."""
    async with db.transaction() as tx:
        if not await writes.acknowledge(tx, actor.team_id, id_, actor.shown, now):
            raise await _conflict(tx, actor, id_, "The incident is already {}")
        await followers.acknowledge(tx, actor, id_, now)
        await _log(tx, actor, id_, TimelineType.ACKNOWLEDGED, f"Acknowledged by {actor.name}", now)
        return await _announce(tx, actor, "acknowledge", id_, now)


async def unacknowledge(
    db: Db, followers: IncidentFollowers, actor: Actor, id_: UUID, now: datetime
) -> Incident:
    """Withdraw the acknowledgement of the incident and its alerts: reminders and escalation go on.

    Raises NotFound; Conflict unless it is acknowledged.
    """
    async with db.transaction() as tx:
        acknowledged_at = await writes.unacknowledge(tx, actor.team_id, id_)
        if acknowledged_at is None:
            message = "The incident is {}: only an acknowledgement is withdrawn"
            raise await _conflict(tx, actor, id_, message)
        await followers.unacknowledge(tx, actor.team_id, id_, acknowledged_at, now)
        await _log(tx, actor, id_, TimelineType.UNACKNOWLEDGED, f"Withdrawn by {actor.name}", now)
        return await _announce(tx, actor, "unacknowledge", id_, now)


async def snooze(db: Db, actor: Actor, id_: UUID, until: datetime, now: datetime) -> Incident:
    """Let reminders and escalation wait until then. Raises NotFound; Conflict unless the incident is open."""
    async with db.transaction() as tx:
        if not await writes.snooze(tx, actor.team_id, id_, until):
            raise await _conflict(tx, actor, id_, "The incident is {}: only an open incident is snoozed")
        await _log(tx, actor, id_, TimelineType.SNOOZED, f"Until {iso(until)}, by {actor.name}", now)
        return await _done(tx, actor, "snooze", id_)


async def end_snooze(db: Db, actor: Actor, id_: UUID, now: datetime) -> Incident:
    """Let reminders and escalation go on. Raises NotFound; Conflict unless the incident is snoozed."""
    async with db.transaction() as tx:
        before = await _one(tx, actor, id_)
        if before.snoozed(now) is None or not await writes.snooze(tx, actor.team_id, id_, None):
            raise Conflict("The incident is not snoozed")
        await _log(tx, actor, id_, TimelineType.SNOOZE_ENDED, f"Ended by {actor.name}", now)
        return await _done(tx, actor, "end-snooze", id_)


async def resolve(db: Db, actor: Actor, id_: UUID, note: str | None, now: datetime) -> Incident:
    """Resolve the incident. Raises NotFound, Unavailable; Conflict if it is resolved."""

    async def move(tx: Tx) -> Incident:
        await patiently(tx, monitor_incidents.lock_monitor(tx, actor.team_id, id_))
        if not await writes.resolve(tx, actor.team_id, id_, actor.shown, note, now):
            raise await _conflict(tx, actor, id_, "The incident is already {}")
        await _log(tx, actor, id_, TimelineType.RESOLVED, note or f"Resolved by {actor.name}", now)
        return await _announce(tx, actor, "resolve", id_, now)

    return await giving_way(db, move)


async def reopen(db: Db, actor: Actor, id_: UUID, reason: str, now: datetime) -> Incident:
    """Reopen an incident. Raises NotFound, Unavailable; Conflict unless resolved, or beside another open."""

    async def move(tx: Tx) -> Incident:
        await patiently(tx, monitor_incidents.lock_monitor(tx, actor.team_id, id_))
        if not await writes.reopen(tx, actor.team_id, id_, now):
            message = "The incident is {}: only a resolved one is reopened"
            raise await _conflict(tx, actor, id_, message)
        await _log(tx, actor, id_, TimelineType.REOPENED, reason or f"Reopened by {actor.name}", now)
        return await _announce(tx, actor, "reopen", id_, now)

    try:
        return await giving_way(db, move)
    except asyncpg.UniqueViolationError:
        async with db.connection() as tx:
            other = await writes.open_beside(tx, actor.team_id, id_)
        named = f", {ids.show('inc', other)}," if other else ""
        raise Conflict(f"Another incident{named} is open on the same monitor") from None


async def change(db: Db, actor: Actor, id_: UUID, wanted: Changes, now: datetime) -> Incident:
    """Change title, description or severity. Raises NotFound."""
    async with db.transaction() as tx:
        before = await writes.change(tx, actor.team_id, id_, asdict(wanted))
        if before is None:
            raise NotFound(f"{WHAT} not found")
        if wanted.severity not in (None, before):
            await _log(tx, actor, id_, TimelineType.SEVERITY_CHANGED, f"{before} to {wanted.severity}", now)
        named = [name for name, value in asdict(wanted).items() if value is not None]
        return await (_done(tx, actor, "update", id_, named) if named else _one(tx, actor, id_))


async def add_note(db: Db, actor: Actor, id_: UUID, text: str, now: datetime) -> IncidentNote:
    """Add a note to an incident. Raises NotFound."""
    note = IncidentNote(ids.uuid7(), text, actor.shown, now)
    async with db.transaction() as tx:
        await _one(tx, actor, id_)
        await writes.add_note(tx, actor.team_id, id_, note.id, text, actor.shown, now)
        await _log(tx, actor, id_, TimelineType.NOTE_ADDED, text, now)
        await _announce(tx, actor, "note", id_, now, note)
    return note


async def _log(tx: Tx, actor: Actor, id_: UUID, type_: TimelineType, details: str, now: datetime) -> None:
    await timeline.add(tx, [NewTimelineEntry(actor.team_id, id_, type_, details, actor.name)], now)


async def _done(tx: Tx, actor: Actor, action: str, id_: UUID, fields: Sequence[str] = ()) -> Incident:
    """Record the action in the audit log and return the incident after it."""
    incident = await _one(tx, actor, id_)
    await audit.record(
        tx, actor, action, "incident", ids.show("inc", id_), name=incident.title, fields=fields
    )
    return incident


async def _announce(
    tx: Tx, actor: Actor, action: str, id_: UUID, now: datetime, note: IncidentNote | None = None
) -> Incident:
    """Record the action and append its event. Last: others wait for the team's next position."""
    incident = await _done(tx, actor, action, id_)
    monitor = await monitors.get(tx, actor.team_id, incident.monitor_id) if incident.monitor_id else None
    await events.append_all(
        tx, [event_writer.by_hand(actor, _RECORDED_AS[action], incident, monitor, note, now)], now
    )
    return incident


async def _one(tx: Tx, actor: Actor, id_: UUID) -> Incident:
    incident = await reads.one(tx, actor.team_id, id_)
    if incident is None:
        raise NotFound(f"{WHAT} not found")
    return incident


async def _conflict(tx: Tx, actor: Actor, id_: UUID, message: str) -> Conflict:
    """Return the error for an action that the incident's status forbids; *message* has a place for it.

    Raises NotFound.
    """
    return Conflict(message.format((await _one(tx, actor, id_)).status))
