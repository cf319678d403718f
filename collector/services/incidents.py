"""What a caller may ask about incidents."""

from datetime import datetime
from uuid import UUID

from collector.core import downtime
from collector.storage import incident_reads as reads
from collector.storage.db import Db
from collector.storage.incident_reads import Entry, Incident, Note, Wanted
from shared.errors import NotFound

WHAT = "Incident"


async def page(db: Db, team_id: int, wanted: Wanted, limit: int, offset: int) -> tuple[list[Incident], int]:
    """A page of them, newest first, and how many there are in all."""
    async with db.connection() as tx:
        total = await reads.count(tx, team_id, wanted)
        found = await reads.newest(tx, team_id, wanted, limit, offset) if offset < total else []
    return found, total


async def one(db: Db, team_id: int, id_: UUID) -> tuple[Incident, list[Note]]:
    """Raises NotFound."""
    async with db.connection() as tx:
        incident = await reads.one(tx, team_id, id_)
        if incident is None:
            raise NotFound(f"{WHAT} not found")
        return incident, await reads.notes(tx, team_id, id_)


async def timeline(db: Db, team_id: int, id_: UUID) -> list[Entry]:
    """Raises NotFound."""
    async with db.connection() as tx:
        if not await reads.exists(tx, team_id, id_):
            raise NotFound(f"{WHAT} not found")
        return await reads.timeline(tx, team_id, id_)


def lasted_s(incident: Incident, now: datetime) -> int:
    """Seconds of its open spans up to *now*; a pause that lasts ended the present one."""
    ended = incident.status == "resolved"
    return downtime.seconds(
        incident.spans_s, None if ended else incident.span_from, incident.paused_at or now
    )
