"""Monitors with the state of each location, in one query: the most frequent read."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from collector.history.core.certificate import OF_TYPES
from collector.history.storage.monitor_stats import AtLocation
from collector.monitors.storage.monitors import Monitor
from collector.platform.storage.db import Tx

_OF_MONITOR = [field.name for field in fields(Monitor) if field.name != "last_at"]
_OF_LOCATION = [field.name for field in fields(AtLocation)]
_WHOLE = f"""
    SELECT {", ".join(f"m.{name}" for name in _OF_MONITOR)},
        ARRAY(
            SELECT ROW(
                l.name, s.failing, s.fails, s.failed_since, s.last_at, s.last_status, s.last_ms, e.text,
                CASE WHEN m.type IN {OF_TYPES} THEN s.checkpoint END
            )
            FROM states s JOIN locations l USING (location) LEFT JOIN errors e ON e.error = s.last_error
            WHERE s.monitor = m.monitor ORDER BY s.turn
        ) AS at_locations
    FROM unnest($1::int[], $2::uuid[]) AS k (team_id, id)
    CROSS JOIN LATERAL (SELECT * FROM monitors m WHERE m.team_id = k.team_id AND m.id = k.id OFFSET 0) m
"""


@dataclass(frozen=True, slots=True)
class MonitorRecord:
    """A row of the query: two equal ones describe the same state of a monitor and its locations."""

    answered: Any

    def monitor(self) -> Monitor:
        last = max(
            (location.last_at for location in self.at_locations() if location.last_at is not None),
            default=None,
        )
        return Monitor(**{name: self.answered[name] for name in _OF_MONITOR}, last_at=last)

    def at_locations(self) -> list[AtLocation]:
        """Return the locations by turn."""
        return [
            AtLocation(**dict(zip(_OF_LOCATION, one, strict=True))) for one in self.answered["at_locations"]
        ]


async def get(tx: Tx, wanted: Sequence[tuple[int, UUID]]) -> dict[tuple[int, UUID], MonitorRecord]:
    """Return the existing monitors, by their team and their id."""
    teams, ids = zip(*wanted, strict=True)
    rows = await tx.fetch(_WHOLE, teams, ids)
    return {(row["team_id"], row["id"]): MonitorRecord(row) for row in rows}
