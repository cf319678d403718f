"""Service level objectives, and the monitors that they concern."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from collector.maintenance.core.windows import Selection
from collector.platform.storage.db import Tx
from collector.slos.core.settings import Combine, IndicatorType, Period


@dataclass(frozen=True, slots=True, kw_only=True)
class SloRow:
    """*target* is a percentage; *threshold_ms* is None unless *indicator* is latency."""

    team_id: int
    id: UUID
    name: str
    description: str
    target: float
    period: Period
    timezone: str
    indicator: IndicatorType
    threshold_ms: int | None
    combine: Combine
    monitors: Sequence[UUID]
    groups: Sequence[str]
    tags: Mapping[str, str] | Sequence[str]
    revision: int
    created_at: datetime
    updated_at: datetime

    @property
    def selection(self) -> Selection:
        return Selection(False, self.monitors, self.tags)


@dataclass(frozen=True, slots=True)
class SloMonitor:
    """A monitor of an SLO; *number*: as in results and rollups."""

    number: int
    id: UUID
    name: str


_COLUMNS = [field.name for field in fields(SloRow)]
_NAMES = ", ".join(f"s.{name}" for name in _COLUMNS)
_FIXED = {"team_id", "id", "created_at"}
_CONCERNS = """
    (m.id = ANY (s.monitors) OR m.group_name = ANY (s.groups) OR m.tags ?| s.names OR m.tags @> ANY (s.pairs))
"""


async def insert(tx: Tx, row: SloRow) -> None:
    names = [*_COLUMNS, "names", "pairs"]
    places = ", ".join(f"${place}" for place in range(1, len(names) + 1))
    await tx.execute(f"INSERT INTO slos ({', '.join(names)}) VALUES ({places})", *_values(row, _COLUMNS))


async def save(tx: Tx, row: SloRow) -> None:
    """Write the columns that may change."""
    changing = [name for name in _COLUMNS if name not in _FIXED]
    terms = ", ".join(f"{name} = ${at}" for at, name in enumerate([*changing, "names", "pairs"], start=3))
    await tx.execute(
        f"UPDATE slos SET {terms} WHERE team_id = $1 AND id = $2",
        row.team_id,
        row.id,
        *_values(row, changing),
    )


async def get(tx: Tx, team_id: int, id_: UUID) -> SloRow | None:
    row = await tx.fetchrow(f"SELECT {_NAMES} FROM slos s WHERE s.team_id = $1 AND s.id = $2", team_id, id_)
    return SloRow(**row) if row else None


async def lock(tx: Tx, team_id: int, id_: UUID) -> SloRow | None:
    """As `get`, and lock it until the transaction ends."""
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM slos s WHERE s.team_id = $1 AND s.id = $2 FOR NO KEY UPDATE", team_id, id_
    )
    return SloRow(**row) if row else None


async def newest(tx: Tx, team_id: int, limit: int | None, offset: int) -> list[SloRow]:
    """Return the team's SLOs, newest first; *limit* None: all."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM slos s WHERE s.team_id = $1
        ORDER BY s.created_at DESC, s.id DESC LIMIT $2 OFFSET $3
        """,
        team_id,
        limit,
        offset,
    )
    return [SloRow(**row) for row in rows]


async def count(tx: Tx, team_id: int) -> int:
    total: int = await tx.fetchval("SELECT count(*) FROM slos WHERE team_id = $1", team_id)
    return total


async def delete(tx: Tx, team_id: int, id_: UUID) -> None:
    await tx.execute("DELETE FROM slos WHERE team_id = $1 AND id = $2", team_id, id_)


async def monitors(tx: Tx, team_id: int, id_: UUID, limit: int) -> list[SloMonitor]:
    """Return the monitors that the SLO concerns now, by name."""
    rows = await tx.fetch(
        f"""
        SELECT m.monitor AS number, m.id, m.name FROM slos s JOIN monitors m USING (team_id)
        WHERE s.team_id = $1 AND s.id = $2 AND {_CONCERNS} ORDER BY m.name, m.id LIMIT $3
        """,
        team_id,
        id_,
        limit,
    )
    return [SloMonitor(**row) for row in rows]


def _values(row: SloRow, names: Sequence[str]) -> list[object]:
    selection = row.selection
    return [*(getattr(row, name) for name in names), selection.names, selection.pairs]
