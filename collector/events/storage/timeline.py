"""The log of an incident: append-only, enforced by the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.events.core.timeline import TimelineType
from collector.platform.storage.db import Tx

SYSTEM = "System"


@dataclass(frozen=True, slots=True)
class NewTimelineEntry:
    """A line of the log; *details*: for people."""

    team_id: int
    incident_id: UUID
    type: TimelineType
    details: str
    actor: str = SYSTEM


async def add(tx: Tx, entries: Sequence[NewTimelineEntry], now: datetime) -> None:
    await tx.execute(
        """
        INSERT INTO timeline (team_id, incident_id, at, type, actor, details)
        SELECT team_id, incident_id, $6, type, actor, details
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::text[])
            WITH ORDINALITY AS u (team_id, incident_id, type, actor, details, place)
        ORDER BY place
        """,
        [entry.team_id for entry in entries],
        [entry.incident_id for entry in entries],
        [entry.type for entry in entries],
        [entry.actor for entry in entries],
        [entry.details for entry in entries],
        now,
    )
