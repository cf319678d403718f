"""The post-mortem of an incident, from what is stored of it."""

from datetime import datetime
from uuid import UUID

from collector.core.postmortem import Checks, Facts, Line, markdown
from collector.services.incidents import WHAT, lasted_s
from collector.storage import incident_reads as reads
from collector.storage.db import Db
from collector.storage.incident_reads import Entry, Incident, Note
from shared.errors import NotFound


async def write(db: Db, team_id: int, id_: UUID, now: datetime) -> str:
    """As Markdown. Raises NotFound."""
    async with db.connection() as tx:
        incident = await reads.one(tx, team_id, id_)
        if incident is None:
            raise NotFound(f"{WHAT} not found")
        log = await reads.timeline(tx, team_id, id_)
        notes = await reads.notes(tx, team_id, id_)
        checks = await reads.checks(tx, team_id, id_, incident.resolved_at or now)
    return markdown(_facts(incident, log, notes, [Checks(*row) for row in checks], now))


def _facts(
    incident: Incident, log: list[Entry], notes: list[Note], checks: list[Checks], now: datetime
) -> Facts:
    return Facts(
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
            Line(one.at, one.actor, one.type.replace("_", " "), one.details)
            for one in log
            if one.type != "note_added"
        ],
        checks=checks,
        notes=[Line(one.created_at, one.created_by["name"], "note", one.text) for one in notes],
    )
