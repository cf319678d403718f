"""The last result of each of a team's monitors at each location."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from collector.history.core.certificate import OF_TYPES
from collector.platform.storage.db import Tx
from shared.results import Status

# A result older than three checks says nothing about the present.
_GRACE: Final = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class LastResult:
    """*config*: without its secrets; *checkpoint*: of a certificate.

    *code* and *phases* are None if there are none.
    """

    id: UUID
    name: str
    type: str
    config: dict[str, Any]
    location: str
    good: bool
    ms: int
    code: int | None
    phases: bytes | None
    checkpoint: bytes | None


async def of_team(tx: Tx, team_id: int, now: datetime) -> list[LastResult]:
    """Return the last results of active monitors, by the monitors' age; unknown ones are left out."""
    rows = await tx.fetch(
        f"""
        SELECT m.id, m.name, m.type, m.config, l.name AS location, s.last_status = $3 AS good,
            s.last_ms AS ms, r.code, r.phases,
            CASE WHEN m.type IN {OF_TYPES} THEN s.checkpoint END AS checkpoint
        FROM monitors m JOIN states s USING (monitor) JOIN locations l USING (location)
        LEFT JOIN LATERAL (
            SELECT r.code, r.phases
            FROM results_of(s.monitor, s.location, s.last_at, s.last_at + interval '1 millisecond') r
            ORDER BY r.n DESC LIMIT 1
        ) r ON true
        WHERE m.team_id = $1 AND m.paused_at IS NULL AND s.last_status IN ($3, $4)
            AND s.last_at
                > $2::timestamptz - (3 * m.interval_s + m.timeout_s) * interval '1 second' - $5::interval
        ORDER BY m.monitor, s.location
        """,
        team_id,
        now,
        Status.UP,
        Status.DOWN,
        _GRACE,
    )
    return [LastResult(*row) for row in rows]
