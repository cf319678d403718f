"""Maintenance windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from collector.maintenance.core.windows import ComputedSpans, Schedule, Selection, WindowStatus
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """*starts_local* and *laid_until* are local times of *timezone*; see maintenance/core/windows.py."""

    team_id: int
    id: UUID
    name: str
    description: str
    monitors: Sequence[UUID]
    tags: Mapping[str, str] | Sequence[str]
    every: bool
    starts_at: datetime
    starts_local: datetime
    duration_s: int
    timezone: str
    rrule: str | None
    exdates: Sequence[date]
    enabled: bool
    laid_until: datetime | None
    extend_at: datetime | None
    revision: int
    created_at: datetime
    updated_at: datetime

    @property
    def selection(self) -> Selection:
        return Selection(self.every, self.monitors, self.tags)

    @property
    def schedule(self) -> Schedule:
        return Schedule(
            starts_at=self.starts_at,
            starts_local=self.starts_local,
            duration=timedelta(seconds=self.duration_s),
            timezone=self.timezone,
            rrule=self.rrule,
            exdates=self.exdates,
        )


_COLUMNS = [field.name for field in fields(WindowRow)]
_NAMES = ", ".join(f"w.{name}" for name in _COLUMNS)
_FIXED = {"team_id", "id", "created_at"}
# Matches core.maintenance.status for a single window.
_SPAN = """
    EXISTS (SELECT FROM maintenance_spans s
        WHERE s.team_id = w.team_id AND s.window_id = w.id AND s.ends_at > $2{begun})
"""
# Uses the time argument even if the condition does not.
_AT = "$2::timestamptz IS NOT NULL"
_RUNNING, _LEFT = _SPAN.format(begun=" AND s.starts_at <= $2"), _SPAN.format(begun="")
_STATUS: Final[Mapping[str, str]] = {
    WindowStatus.DISABLED: f"NOT w.enabled AND {_AT}",
    WindowStatus.ENDED: f"w.enabled AND NOT {_LEFT}",
    WindowStatus.ACTIVE: f"w.enabled AND {_RUNNING}",
    WindowStatus.SCHEDULED: f"w.enabled AND {_LEFT} AND NOT {_RUNNING}",
}


async def insert(tx: Tx, row: WindowRow) -> None:
    places = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))
    await tx.execute(
        f"INSERT INTO maintenance_windows ({', '.join(_COLUMNS)}) VALUES ({places})", *_values(row, _COLUMNS)
    )


async def save(tx: Tx, row: WindowRow) -> None:
    """Write the mutable columns of a window."""
    names = [name for name in _COLUMNS if name not in _FIXED]
    terms = ", ".join(f"{name} = ${place}" for place, name in enumerate(names, start=3))
    await tx.execute(
        f"UPDATE maintenance_windows SET {terms} WHERE team_id = $1 AND id = $2",
        row.team_id,
        row.id,
        *_values(row, names),
    )


async def get(tx: Tx, team_id: int, id_: UUID) -> WindowRow | None:
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM maintenance_windows w WHERE w.team_id = $1 AND w.id = $2", team_id, id_
    )
    return WindowRow(**row) if row else None


async def lock(tx: Tx, team_id: int, id_: UUID) -> WindowRow | None:
    """As `get`, but lock the row until the transaction ends."""
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM maintenance_windows w WHERE w.team_id = $1 AND w.id = $2 FOR NO KEY UPDATE",
        team_id,
        id_,
    )
    return WindowRow(**row) if row else None


async def newest(
    tx: Tx, team_id: int, status: str | None, now: datetime, limit: int, offset: int
) -> list[WindowRow]:
    """The team's windows, of one status or all, newest first."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM maintenance_windows w WHERE w.team_id = $1 AND {_which(status)}
        ORDER BY w.created_at DESC, w.id DESC LIMIT $3 OFFSET $4
        """,
        team_id,
        now,
        limit,
        offset,
    )
    return [WindowRow(**row) for row in rows]


async def count(tx: Tx, team_id: int, status: str | None, now: datetime) -> int:
    total: int = await tx.fetchval(
        f"SELECT count(*) FROM maintenance_windows w WHERE w.team_id = $1 AND {_which(status)}", team_id, now
    )
    return total


async def delete(tx: Tx, team_id: int, id_: UUID) -> None:
    """Delete the window, but not its spans."""
    await tx.execute("DELETE FROM maintenance_windows WHERE team_id = $1 AND id = $2", team_id, id_)


async def lock_due(tx: Tx, now: datetime, limit: int) -> list[WindowRow]:
    """Lock some windows that need more spans, skipping locked ones."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM maintenance_windows w WHERE w.extend_at <= $1
        ORDER BY w.extend_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
        """,
        now,
        limit,
    )
    return [WindowRow(**row) for row in rows]


async def laid(tx: Tx, team_id: int, id_: UUID, more: ComputedSpans) -> None:
    """Store how far a window's spans are computed."""
    await tx.execute(
        "UPDATE maintenance_windows SET laid_until = $3, extend_at = $4 WHERE team_id = $1 AND id = $2",
        team_id,
        id_,
        more.until,
        more.extend_at,
    )


def _values(row: WindowRow, names: Sequence[str]) -> list[object]:
    return [getattr(row, name) for name in names]


def _which(status: str | None) -> str:
    return _STATUS[status] if status else _AT
