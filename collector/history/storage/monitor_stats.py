"""Monitors with their locations and the numbers that results and rollups refer to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class AtLocation:
    """A monitor's state at one location; *checkpoint*: of its certificate.

    *last_status*: of its newest check, see `shared.results.Status`.
    """

    name: str
    failing: bool
    fails: int
    failed_since: datetime | None
    last_at: datetime | None
    last_status: int | None
    last_ms: int | None
    last_error: str | None
    checkpoint: bytes | None


async def numbers(tx: Tx, team_id: int, ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the numbers, as in results and rollups, of the *ids* that are the team's."""
    rows = await tx.fetch(
        "SELECT id, monitor FROM monitors WHERE team_id = $1 AND id = ANY ($2)", team_id, ids
    )
    return {row["id"]: row["monitor"] for row in rows}


async def attended(tx: Tx, monitor: int) -> set[str]:
    """Return the locations at which some probe checks the monitor."""
    rows = await tx.fetch(
        """
        SELECT l.name FROM states s JOIN locations l USING (location)
        WHERE s.monitor = $1 AND s.probe_id IS NOT NULL
        """,
        monitor,
    )
    return {row["name"] for row in rows}
