"""Incidents and planned maintenance of status pages, with their updates."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.status_pages.core.status_page import Phase, Severity, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIncident:
    """*component_status*: the status of its components while it is open."""

    team_id: int
    id: UUID
    page_id: UUID
    title: str
    status: Phase
    severity: Severity
    components: Sequence[UUID]
    component_status: Status | None
    scheduled_start: datetime | None
    scheduled_end: datetime | None
    published_at: datetime
    updated_at: datetime
    resolved_at: datetime | None
    reminder_minutes: int | None = None
    reminded_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One update of an incident."""

    team_id: int
    id: UUID
    incident_id: UUID
    status: Phase
    message: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PageIncidentFilter:
    """A filter; *open* None: both; *severity* None: all."""

    open: bool | None = None
    severity: str | None = None


_COLUMNS = [field.name for field in fields(PageIncident)]
_NAMES = ", ".join(f"i.{name}" for name in _COLUMNS)
_FIXED = {"team_id", "id", "page_id", "published_at"}
_WHICH = """
    i.team_id = $1 AND i.page_id = $2 AND ($3::boolean IS NULL OR $3 = (i.resolved_at IS NULL))
    AND ($4::text IS NULL OR i.severity = $4)
"""


async def insert(tx: Tx, incident: PageIncident) -> None:
    places = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))
    await tx.execute(
        f"INSERT INTO status_incidents ({', '.join(_COLUMNS)}) VALUES ({places})",
        *(getattr(incident, name) for name in _COLUMNS),
    )


async def save(tx: Tx, incident: PageIncident) -> None:
    """Write the mutable columns of an incident."""
    names = [name for name in _COLUMNS if name not in _FIXED]
    terms = ", ".join(f"{name} = ${place}" for place, name in enumerate(names, start=3))
    await tx.execute(
        f"UPDATE status_incidents SET {terms} WHERE team_id = $1 AND id = $2",
        incident.team_id,
        incident.id,
        *(getattr(incident, name) for name in names),
    )


async def add_update(tx: Tx, update: Update) -> None:
    """Add an update."""
    await tx.execute(
        """
        INSERT INTO status_updates (team_id, id, incident_id, status, message, at)
        VALUES ($1, $2, $3, $4, $5, $6)
        """,
        update.team_id,
        update.id,
        update.incident_id,
        update.status,
        update.message,
        update.at,
    )


async def get(tx: Tx, team_id: int, page_id: UUID, id_: UUID) -> PageIncident | None:
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM status_incidents i WHERE i.team_id = $1 AND i.page_id = $2 AND i.id = $3",
        team_id,
        page_id,
        id_,
    )
    return PageIncident(**row) if row else None


async def newest(
    tx: Tx, team_id: int, page_id: UUID, filters: PageIncidentFilter, limit: int | None, offset: int
) -> list[PageIncident]:
    """A page's incidents, newest first."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM status_incidents i WHERE {_WHICH}
        ORDER BY i.published_at DESC, i.id DESC LIMIT $5 OFFSET $6
        """,
        team_id,
        page_id,
        filters.open,
        filters.severity,
        limit,
        offset,
    )
    return [PageIncident(**row) for row in rows]


async def count(tx: Tx, team_id: int, page_id: UUID, filters: PageIncidentFilter) -> int:
    total: int = await tx.fetchval(
        f"SELECT count(*) FROM status_incidents i WHERE {_WHICH}",
        team_id,
        page_id,
        filters.open,
        filters.severity,
    )
    return total


async def updates(tx: Tx, team_id: int, ids: Sequence[UUID]) -> dict[UUID, list[Update]]:
    """The updates of each incident, in order."""
    rows = await tx.fetch(
        """
        SELECT team_id, id, incident_id, status, message, at FROM status_updates
        WHERE team_id = $1 AND incident_id = ANY ($2) ORDER BY at, id
        """,
        team_id,
        list(ids),
    )
    updates_of: dict[UUID, list[Update]] = {id_: [] for id_ in ids}
    for row in rows:
        updates_of[row["incident_id"]].append(Update(**row))
    return updates_of


async def delete(tx: Tx, team_id: int, page_id: UUID, id_: UUID) -> None:
    """Delete the incident and its updates."""
    await tx.execute(
        "DELETE FROM status_incidents WHERE team_id = $1 AND page_id = $2 AND id = $3", team_id, page_id, id_
    )


async def planned(tx: Tx, team_id: int, page_id: UUID, now: datetime) -> set[UUID]:
    """The components whose published maintenance is in progress."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT unnest(components) AS id FROM status_incidents
        WHERE team_id = $1 AND page_id = $2 AND severity = 'maintenance' AND resolved_at IS NULL
            AND scheduled_start <= $3 AND coalesce($3 < scheduled_end, true)
        """,
        team_id,
        page_id,
        now,
    )
    return {row["id"] for row in rows}


async def due(tx: Tx, now: datetime, limit: int) -> list[tuple[int, UUID, UUID]]:
    """Scheduled maintenance of any team that must start or end by now: ids of team, page and incident."""
    rows = await tx.fetch(
        """
        SELECT team_id, page_id, id FROM status_incidents
        WHERE severity = 'maintenance' AND resolved_at IS NULL AND status <> 'resolved'
            AND (scheduled_end <= $1 OR (status = 'investigating' AND scheduled_start <= $1))
        ORDER BY coalesce(scheduled_end, scheduled_start) LIMIT $2
        """,
        now,
        limit,
    )
    return [(row["team_id"], row["page_id"], row["id"]) for row in rows]


async def to_remind(tx: Tx, now: datetime, limit: int) -> list[tuple[int, UUID, UUID]]:
    """Maintenance of any team with a reminder that is due: ids of team, page and incident."""
    rows = await tx.fetch(
        """
        SELECT team_id, page_id, id FROM status_incidents
        WHERE severity = 'maintenance' AND resolved_at IS NULL AND status = 'investigating'
            AND reminded_at IS NULL AND scheduled_start > $1
            AND scheduled_start - make_interval(mins => reminder_minutes) BETWEEN updated_at AND $1
        ORDER BY scheduled_start LIMIT $2
        """,
        now,
        limit,
    )
    return [(row["team_id"], row["page_id"], row["id"]) for row in rows]
