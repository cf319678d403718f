"""The demonstration's own SQL: its assignments, its outages, and the dates of what it sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.platform.storage.db import Tx

# By which the demonstration's probes are known.
BOOT: Final = "demonstration"


@dataclass(frozen=True, slots=True)
class AssignedCheck:
    """A monitor at a location, as its results name them; *probe_id* None: it receives pushes.

    *failing*: as its last result said.
    """

    monitor: int
    id: UUID
    name: str
    type: str
    location: int
    place: str
    probe_id: UUID | None
    assignment: int | None
    revision: int
    interval_s: int
    failing: bool
    error: str


async def assigned(tx: Tx, team_id: int) -> list[AssignedCheck]:
    """Everything that is checked or receives pushes, except what is paused."""
    rows = await tx.fetch(
        """
        SELECT m.monitor, m.id, m.name, m.type, s.location, l.name AS place, s.probe_id, s.assignment,
            s.revision, m.interval_s, s.failing, coalesce(e.text, '') AS error
        FROM monitors m JOIN states s USING (monitor) JOIN locations l USING (location)
            LEFT JOIN errors e ON e.error = s.last_error
        WHERE m.team_id = $1 AND m.paused_at IS NULL ORDER BY m.monitor, s.location
        """,
        team_id,
    )
    return [AssignedCheck(**row) for row in rows]


async def demo_probes(tx: Tx, places: Sequence[str]) -> list[tuple[int, UUID, str]]:
    """The team, id and location of the demonstration's probes, which alone have its boot id."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT ON (locations[1]) team_id, probe_id, locations[1] AS place FROM probes
        WHERE boot_id = $1 AND revoked_at IS NULL AND locations[1] = ANY ($2)
        ORDER BY locations[1], probe_id
        """,
        BOOT,
        list(places),
    )
    return [(row["team_id"], row["probe_id"], row["place"]) for row in rows]


async def outages(tx: Tx, team_id: int) -> list[tuple[int, int, datetime, datetime | None]]:
    """The outages of the team's monitors: monitor, location (0: by its quorum), start and end."""
    rows = await tx.fetch(
        """
        SELECT o.monitor, o.location, o.started_at, o.ended_at
        FROM outages o JOIN monitors m USING (monitor) WHERE m.team_id = $1 ORDER BY o.started_at
        """,
        team_id,
    )
    return [(row["monitor"], row["location"], row["started_at"], row["ended_at"]) for row in rows]


async def maintained(tx: Tx, team_id: int, windows: list[UUID]) -> list[tuple[UUID, datetime, datetime]]:
    """The spans of maintenance of these windows."""
    rows = await tx.fetch(
        """
        SELECT window_id, starts_at, ends_at FROM maintenance_spans
        WHERE team_id = $1 AND window_id = ANY ($2) ORDER BY starts_at
        """,
        team_id,
        windows,
    )
    return [(row["window_id"], row["starts_at"], row["ends_at"]) for row in rows]


async def date_deliveries(tx: Tx, team_id: int) -> None:
    """Date each delivery to its event: the database's clock dated them all to now."""
    await tx.execute(
        """
        WITH moved AS (
            UPDATE deliveries d SET created_at = e.created_at, due_at = e.created_at,
                finished_at = e.created_at + (d.finished_at - d.created_at)
            FROM events e
            WHERE d.team_id = $1 AND e.team_id = $1 AND e.stream_id = d.stream_id
                AND e.sequence = d.sequence AND d.status <> 0
            RETURNING d.id, e.created_at
        )
        UPDATE delivery_attempts a
        SET at = moved.created_at + (a.attempt - 1) * interval '20 seconds' + interval '1 second'
        FROM moved WHERE a.team_id = $1 AND a.delivery_id = moved.id
        """,
        team_id,
    )
