"""Reports: what is asked for, and when the next one is due."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from collector.maintenance.core.windows import Selection
from collector.platform.storage.db import Tx
from collector.reports.core.periods import PeriodKind


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """*next_day*: the first day of the period that is due at *due_at*; None: none is."""

    team_id: int
    id: UUID
    name: str
    status_page_id: UUID | None
    monitors: Sequence[UUID]
    tags: Mapping[str, str] | Sequence[str]
    period: PeriodKind
    first_day: date | None
    last_day: date | None
    timezone: str
    send_hour: int
    business_hours: str | None
    target: float | None
    recipients: Sequence[str]
    enabled: bool
    next_day: date | None
    due_at: datetime | None
    revision: int
    created_at: datetime
    updated_at: datetime

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def selection(self) -> Selection:
        """The monitors by name and tag; every one of the team if the report names nothing."""
        return Selection(self.of_team, self.monitors, self.tags)

    @property
    def of_team(self) -> bool:
        """Whether it is about all monitors of the team."""
        return not (self.monitors or self.tags or self.status_page_id)


_COLUMNS: Final = [field.name for field in fields(ReportRow)]
_NAMES: Final = ", ".join(f"r.{name}" for name in _COLUMNS)
_FIXED: Final = {"team_id", "id", "created_at"}


async def insert(tx: Tx, row: ReportRow) -> None:
    places = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))
    await tx.execute(
        f"INSERT INTO reports ({', '.join(_COLUMNS)}) VALUES ({places})", *_values(row, _COLUMNS)
    )


async def save(tx: Tx, row: ReportRow) -> None:
    """Write the mutable columns of a report."""
    names = [name for name in _COLUMNS if name not in _FIXED]
    terms = ", ".join(f"{name} = ${place}" for place, name in enumerate(names, start=3))
    await tx.execute(
        f"UPDATE reports SET {terms} WHERE team_id = $1 AND id = $2",
        row.team_id,
        row.id,
        *_values(row, names),
    )


async def get(tx: Tx, team_id: int, id_: UUID, *, lock: bool = False) -> ReportRow | None:
    """Return the report; *lock* it until the transaction ends."""
    locked = "FOR NO KEY UPDATE" if lock else ""
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM reports r WHERE r.team_id = $1 AND r.id = $2 {locked}", team_id, id_
    )
    return _row(**row) if row else None


async def newest(tx: Tx, team_id: int, limit: int, offset: int) -> list[ReportRow]:
    """Return the team's reports, newest first."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM reports r WHERE r.team_id = $1
        ORDER BY r.created_at DESC, r.id DESC LIMIT $2 OFFSET $3
        """,
        team_id,
        limit,
        offset,
    )
    return [_row(**row) for row in rows]


async def count(tx: Tx, team_id: int) -> int:
    total: int = await tx.fetchval("SELECT count(*) FROM reports WHERE team_id = $1", team_id)
    return total


async def delete(tx: Tx, team_id: int, id_: UUID) -> None:
    """Delete the report with its editions and mails."""
    await tx.execute("DELETE FROM reports WHERE team_id = $1 AND id = $2", team_id, id_)


async def lock_due(tx: Tx, now: datetime, limit: int) -> list[ReportRow]:
    """Lock some reports that are due, skipping locked ones."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM reports r WHERE r.due_at <= $1
        ORDER BY r.due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
        """,
        now,
        limit,
    )
    return [_row(**row) for row in rows]


async def page_name(tx: Tx, team_id: int, page_id: UUID) -> str | None:
    """Return the name of a status page; None if the team has no such page."""
    name: str | None = await tx.fetchval(
        "SELECT name FROM status_pages WHERE team_id = $1 AND id = $2", team_id, page_id
    )
    return name


async def page_names(tx: Tx, team_id: int) -> dict[UUID, str]:
    """Return the names of the team's status pages."""
    rows = await tx.fetch("SELECT id, name FROM status_pages WHERE team_id = $1 ORDER BY name", team_id)
    return {row["id"]: row["name"] for row in rows}


def _values(row: ReportRow, names: Sequence[str]) -> list[object]:
    return [getattr(row, name) for name in names]


def _row(*, period: str, **columns: Any) -> ReportRow:
    return ReportRow(period=PeriodKind(period), **columns)
