"""Reads incidents, their notes and their log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.incidents.core.postmortem import Checks
from collector.incidents.core.status import IncidentStatus
from collector.platform.monitor import Severity
from collector.platform.storage.db import Tx

# The time of a pause is in no sum; a manual incident runs on meanwhile.
_FROM = """
    incidents i LEFT JOIN monitors m ON m.team_id = i.team_id AND m.id = i.monitor_id AND i.automatic
"""
_COLUMNS = """
    i.id, i.title, i.description, i.monitor_id, i.monitor_name, i.status, i.severity, i.started_at,
    i.created_at, i.acknowledged_at, i.acknowledged_by, i.resolved_at, i.resolved_by, i.resolution_note,
    i.reopened_at, i.failure_count, i.last_error, i.span_from, i.spans_s, i.parent_incident_id, m.paused_at,
    i.snoozed_until
"""


@dataclass(frozen=True, slots=True)
class Incident:
    """A row; *acknowledged_by* and *resolved_by* are ``{id, name}``, *paused_at* is the monitor's."""

    id: UUID
    title: str
    description: str
    monitor_id: UUID | None
    monitor_name: str | None
    status: IncidentStatus
    severity: Severity
    started_at: datetime
    created_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: dict[str, Any] | None
    resolved_at: datetime | None
    resolved_by: dict[str, Any] | None
    resolution_note: str | None
    reopened_at: datetime | None
    failure_count: int
    last_error: str | None
    span_from: datetime
    spans_s: int
    parent_incident_id: UUID | None
    paused_at: datetime | None
    snoozed_until: datetime | None = None

    def snoozed(self, now: datetime) -> datetime | None:
        """Return until when reminders and escalation wait; None if they do not."""
        if self.status is not IncidentStatus.OPEN or self.snoozed_until is None:
            return None
        return self.snoozed_until if self.snoozed_until > now else None


@dataclass(frozen=True, slots=True)
class IncidentNote:
    id: UUID
    text: str
    created_by: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class IncidentLogEntry:
    """One line of an incident's log."""

    type: str
    at: datetime
    actor: str
    details: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFilter:
    """Selects incidents; None means any. *since* and *until* bound the start, both inclusive."""

    status: str | None = None
    severity: str | None = None
    monitor_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


async def newest(tx: Tx, team_id: int, wanted: IncidentFilter, limit: int, offset: int) -> list[Incident]:
    """Return a page of incidents, newest first."""
    where, values = _where(team_id, wanted)
    rows = await tx.fetch(
        f"""
        SELECT {_COLUMNS} FROM {_FROM} WHERE {where}
        ORDER BY i.created_at DESC, i.id DESC LIMIT ${len(values) + 1} OFFSET ${len(values) + 2}
        """,
        *values,
        limit,
        offset,
    )
    return [_incident(**row) for row in rows]


async def count(tx: Tx, team_id: int, wanted: IncidentFilter) -> int:
    where, values = _where(team_id, wanted)
    total: int = await tx.fetchval(f"SELECT count(*) FROM incidents i WHERE {where}", *values)
    return total


async def one(tx: Tx, team_id: int, id_: UUID) -> Incident | None:
    row = await tx.fetchrow(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE i.team_id = $1 AND i.id = $2", team_id, id_
    )
    return _incident(**row) if row else None


async def several(tx: Tx, keys: Sequence[tuple[int, UUID]]) -> dict[tuple[int, UUID], Incident]:
    """Return the incidents of *keys*, each a team and an incident's id, that exist."""
    rows = await tx.fetch(
        f"""
        SELECT i.team_id, {_COLUMNS} FROM {_FROM}
        JOIN unnest($1::int[], $2::uuid[]) AS u (team_id, id) ON i.team_id = u.team_id AND i.id = u.id
        """,
        [team_id for team_id, _ in keys],
        [id_ for _, id_ in keys],
    )
    found = {}
    for row in rows:
        fields = dict(row)
        team_id = fields.pop("team_id")
        found[team_id, row["id"]] = _incident(**fields)
    return found


async def exists(tx: Tx, team_id: int, id_: UUID) -> bool:
    found = await tx.fetchval("SELECT true FROM incidents WHERE team_id = $1 AND id = $2", team_id, id_)
    return bool(found)


async def notes(tx: Tx, team_id: int, incident_id: UUID) -> list[IncidentNote]:
    """Return an incident's notes, oldest first."""
    rows = await tx.fetch(
        """
        SELECT id, text, created_by, created_at FROM incident_notes
        WHERE team_id = $1 AND incident_id = $2 ORDER BY created_at, id
        """,
        team_id,
        incident_id,
    )
    return [IncidentNote(**row) for row in rows]


async def timeline(tx: Tx, team_id: int, incident_id: UUID) -> list[IncidentLogEntry]:
    """Return an incident's log in the order of writing."""
    rows = await tx.fetch(
        "SELECT type, at, actor, details FROM timeline WHERE team_id = $1 AND incident_id = $2 ORDER BY n",
        team_id,
        incident_id,
    )
    return [IncidentLogEntry(**row) for row in rows]


async def checks(tx: Tx, team_id: int, id_: UUID, until: datetime) -> list[Checks]:
    """Return the checks of an incident's monitor by location, from its start to *until*."""
    rows = await tx.fetch(
        """
        SELECT l.name, c.checks, c.failed, e.text
        FROM incidents i JOIN monitors m ON m.team_id = i.team_id AND m.id = i.monitor_id
        CROSS JOIN locations l
        CROSS JOIN LATERAL (
            SELECT count(*) AS checks, count(*) FILTER (WHERE r.status = 2) AS failed,
                (array_agg(r.error ORDER BY r.ts DESC) FILTER (WHERE r.error IS NOT NULL))[1] AS error
            FROM results_of(
                m.monitor, l.location, i.started_at, $3::timestamptz + interval '1 microsecond'
            ) r
        ) c
        LEFT JOIN errors e USING (error)
        WHERE i.team_id = $1 AND i.id = $2 AND c.checks > 0
        ORDER BY l.name
        """,
        team_id,
        id_,
        until,
    )
    return [Checks(row["name"], row["checks"], row["failed"], row["text"]) for row in rows]


def _where(team_id: int, wanted: IncidentFilter) -> tuple[str, list[Any]]:
    """Build the condition with only the given filters, so that each combination gets a plan that fits."""
    asked = {
        "i.team_id = $": team_id,
        "i.status = $": wanted.status,
        "i.severity = $": wanted.severity,
        "i.monitor_id = $": wanted.monitor_id,
        "i.started_at >= $": wanted.since,
        "i.started_at <= $": wanted.until,
    }
    given = [(term, value) for term, value in asked.items() if value is not None]
    terms = [f"{term}{place}" for place, (term, _) in enumerate(given, start=1)]
    return " AND ".join(terms), [value for _, value in given]


def _incident(*, status: str, **columns: Any) -> Incident:
    return Incident(status=IncidentStatus(status), **columns)
