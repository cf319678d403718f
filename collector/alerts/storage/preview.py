"""Past results of monitors, for the preview of a rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.alerts.core.conditions import CheckSample
from collector.alerts.core.replay import PastResult
from collector.maintenance.core.windows import Selection
from collector.platform.storage.db import Tx
from shared.results import Run, Status


@dataclass(frozen=True, slots=True)
class Previewed:
    """A monitor that the rule would apply to."""

    monitor: int
    id: UUID
    name: str
    type: str
    interval_s: int
    failure_threshold: int
    quorum: str
    locations: Sequence[int]


async def monitors(tx: Tx, team_id: int, selection: Selection, limit: int) -> list[Previewed]:
    """Return the monitors that such a selection matches, the oldest first."""
    rows = await tx.fetch(
        """
        SELECT m.monitor, m.id, m.name, m.type, m.interval_s, m.failure_threshold, m.quorum,
            ARRAY(SELECT location FROM states s WHERE s.monitor = m.monitor ORDER BY s.turn) AS locations
        FROM monitors m
        WHERE m.team_id = $1 AND ($2 OR m.id = ANY ($3) OR m.tags ?| $4 OR m.tags @> ANY ($5))
        ORDER BY m.created_at, m.id LIMIT $6
        """,
        team_id,
        selection.every,
        list(selection.monitors),
        selection.names,
        selection.pairs,
        limit,
    )
    return [Previewed(**row) for row in rows]


async def results(tx: Tx, monitor: int, since: datetime, limit: int) -> list[PastResult]:
    """Return a monitor's results since then, sorted by time; above the limit only the newest."""
    rows = await tx.fetch(
        """
        SELECT location, ts, status, ms, code, run FROM results
        WHERE monitor = $1 AND ts >= $2 ORDER BY ts DESC LIMIT $3
        """,
        monitor,
        since,
        limit,
    )
    return [
        PastResult(
            row["location"],
            CheckSample(row["ts"], Status(row["status"]), row["ms"], row["code"]),
            row["run"] == Run.SCHEDULED,
        )
        for row in reversed(rows)
    ]


async def outages(tx: Tx, monitor: int, since: datetime) -> list[tuple[datetime, datetime | None]]:
    """Return the outages of the whole monitor that ended after that, or have not."""
    rows = await tx.fetch(
        """
        SELECT started_at, ended_at FROM outages
        WHERE monitor = $1 AND location = 0 AND (ended_at IS NULL OR ended_at > $2) ORDER BY started_at
        """,
        monitor,
        since,
    )
    return [(row["started_at"], row["ended_at"]) for row in rows]
