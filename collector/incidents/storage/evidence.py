"""Evidence of failed checks: the newest of each location, and for good that of incidents."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx

# Checks kept per monitor and location; three confirm an outage by default.
_REMEMBERED = 4
# Limits an incident that is reopened again and again.
_KEPT = 100


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A failed check that began *at*; *saw* is its evidence, as JSON."""

    monitor: int
    location: int
    at: datetime
    saw: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """A failed check that confirmed an incident; *location* is a name."""

    location: str
    at: datetime
    saw: dict[str, Any]


async def remember(tx: Tx, failures: Sequence[FailedCheck]) -> None:
    """Add failed checks, oldest first for each monitor and location; drop the oldest beyond the limit."""
    await tx.execute(
        """
        INSERT INTO failures AS f (monitor, location, newest, at)
        SELECT monitor, location,
            (array_agg(jsonb_build_object('at', at, 'saw', saw) ORDER BY place DESC))[1:$5], max(at)
        FROM unnest($1::int[], $2::smallint[], $3::timestamptz[], $4::jsonb[])
            WITH ORDINALITY AS u (monitor, location, at, saw, place)
        GROUP BY monitor, location ORDER BY monitor, location
        ON CONFLICT (monitor, location) DO UPDATE
        SET newest = (excluded.newest || f.newest)[1:$5], at = excluded.at
        """,
        [check.monitor for check in failures],
        [check.location for check in failures],
        [check.at for check in failures],
        [check.saw for check in failures],
        _REMEMBERED,
    )


async def keep(tx: Tx, monitors: Collection[int], opened: Sequence[tuple[int, UUID]]) -> None:
    """Attach to open incidents the evidence of the failing locations' present streaks.

    *monitors*: those of which a location, or the whole, began to fail; *opened*: incidents just opened,
    with their teams. The states are written before.
    """
    await tx.execute(
        """
        INSERT INTO incident_evidence (team_id, incident_id, location, at, saw)
        SELECT u.team_id, u.id, l.name, (one.value ->> 'at')::timestamptz, one.value -> 'saw'
        FROM (
            SELECT m.monitor, i.team_id, i.id
            FROM monitors m JOIN incidents i ON i.team_id = m.team_id AND i.monitor_id = m.id
            WHERE m.monitor = ANY($1) AND i.automatic AND i.status <> 'resolved'
            UNION
            SELECT m.monitor, i.team_id, i.id
            FROM unnest($2::int[], $3::uuid[]) AS o (team_id, id)
            JOIN incidents i ON i.team_id = o.team_id AND i.id = o.id
            JOIN monitors m ON m.team_id = i.team_id AND m.id = i.monitor_id
        ) u
        JOIN states s ON s.monitor = u.monitor AND s.failing
        JOIN locations l ON l.location = s.location
        JOIN failures f ON f.monitor = s.monitor AND f.location = s.location
        CROSS JOIN unnest(f.newest) AS one (value)
        WHERE (one.value ->> 'at')::timestamptz >= s.failed_since
            AND (SELECT count(*) FROM incident_evidence e
                WHERE e.team_id = u.team_id AND e.incident_id = u.id) < $4
        ON CONFLICT DO NOTHING
        """,
        list(monitors),
        [team_id for team_id, _ in opened],
        [id_ for _, id_ in opened],
        _KEPT,
    )


async def of_incident(tx: Tx, team_id: int, incident_id: UUID) -> list[EvidenceRow]:
    """Return an incident's evidence, oldest first."""
    rows = await tx.fetch(
        """
        SELECT location, at, saw FROM incident_evidence
        WHERE team_id = $1 AND incident_id = $2 ORDER BY at, location
        """,
        team_id,
        incident_id,
    )
    return [EvidenceRow(**row) for row in rows]
