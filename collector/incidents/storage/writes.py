"""State changes of incidents by people: one statement each, which matches only the right state."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class EndedSnooze:
    """An incident whose snooze was over at *ended_at*."""

    team_id: int
    id: UUID
    ended_at: datetime


async def insert(
    tx: Tx,
    team_id: int,
    id_: UUID,
    columns: dict[str, Any],
    monitor_id: UUID | None,
    now: datetime,
) -> None:
    """Add a manual incident; *columns*: title, description, severity. It keeps its monitor's present name."""
    await tx.execute(
        """
        INSERT INTO incidents (team_id, id, automatic, status, title, description, severity, monitor_id,
            monitor_name, started_at, span_from, created_at)
        SELECT $1, $2, false, 'open', $3, $4, $5, $6,
            (SELECT m.name FROM monitors m WHERE m.team_id = $1 AND m.id = $6), $7, $7, $7
        """,
        team_id,
        id_,
        columns["title"],
        columns["description"],
        columns["severity"],
        monitor_id,
        now,
    )


async def acknowledge(tx: Tx, team_id: int, id_: UUID, by: dict[str, Any], now: datetime) -> bool:
    """Acknowledge the incident; False if it is not open."""
    return bool(
        await tx.fetchval(
            """
            UPDATE incidents SET status = 'acknowledged', acknowledged_at = $3, acknowledged_by = $4,
                snoozed_until = NULL
            WHERE team_id = $1 AND id = $2 AND status = 'open' RETURNING true
            """,
            team_id,
            id_,
            now,
            by,
        )
    )


async def unacknowledge(tx: Tx, team_id: int, id_: UUID) -> datetime | None:
    """Open the acknowledged incident again; return when it was acknowledged, None if it is not."""
    acknowledged_at: datetime | None = await tx.fetchval(
        """
        WITH before AS (
            SELECT team_id, id, acknowledged_at FROM incidents
            WHERE team_id = $1 AND id = $2 AND status = 'acknowledged' FOR UPDATE
        )
        UPDATE incidents i SET status = 'open', acknowledged_at = NULL, acknowledged_by = NULL
        FROM before b WHERE i.team_id = b.team_id AND i.id = b.id RETURNING b.acknowledged_at
        """,
        team_id,
        id_,
    )
    return acknowledged_at


async def end_snoozes(tx: Tx, now: datetime, limit: int) -> list[EndedSnooze]:
    """End snoozes whose time has come; incidents that others hold are left for later."""
    rows = await tx.fetch(
        """
        WITH due AS (
            SELECT team_id, id, snoozed_until FROM incidents
            WHERE status <> 'resolved' AND snoozed_until <= $1
            LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE incidents i SET snoozed_until = NULL
        FROM due d WHERE i.team_id = d.team_id AND i.id = d.id
        RETURNING i.team_id, i.id, d.snoozed_until AS ended_at
        """,
        now,
        limit,
    )
    return [EndedSnooze(**row) for row in rows]


async def snooze(tx: Tx, team_id: int, id_: UUID, until: datetime | None) -> bool:
    """Let reminders and escalation wait until then, or no longer; False if the incident is not open."""
    return bool(
        await tx.fetchval(
            """
            UPDATE incidents SET snoozed_until = $3
            WHERE team_id = $1 AND id = $2 AND status = 'open' RETURNING true
            """,
            team_id,
            id_,
            until,
        )
    )


async def resolve(
    tx: Tx, team_id: int, id_: UUID, by: dict[str, Any], note: str | None, now: datetime
) -> bool:
    """Resolve the incident; False if it is already. The time of a present pause is no downtime."""
    return bool(
        await tx.fetchval(
            """
            UPDATE incidents i SET status = 'resolved', resolved_at = $3, resolved_by = $4,
                resolution_note = $5,
                spans_s = spans_s + floor(greatest(0, extract(epoch FROM coalesce(
                    (SELECT m.paused_at FROM monitors m
                        WHERE m.team_id = i.team_id AND m.id = i.monitor_id AND i.automatic), $3
                ) - i.span_from)))::bigint
            WHERE team_id = $1 AND id = $2 AND status <> 'resolved' RETURNING true
            """,
            team_id,
            id_,
            now,
            by,
            note,
        )
    )


async def reopen(tx: Tx, team_id: int, id_: UUID, now: datetime) -> bool:
    """Reopen the incident; False if it is not resolved.

    Raises UniqueViolationError if it is automatic and its monitor has another open one.
    """
    return bool(
        await tx.fetchval(
            """
            UPDATE incidents SET status = 'open', reopened_at = $3, span_from = $3,
                resolved_at = NULL, resolved_by = NULL, resolution_note = NULL,
                acknowledged_at = NULL, acknowledged_by = NULL, snoozed_until = NULL
            WHERE team_id = $1 AND id = $2 AND status = 'resolved' RETURNING true
            """,
            team_id,
            id_,
            now,
        )
    )


async def open_beside(tx: Tx, team_id: int, id_: UUID) -> UUID | None:
    """Return the other open automatic incident of the same monitor."""
    found: UUID | None = await tx.fetchval(
        """
        SELECT o.id FROM incidents i JOIN incidents o
            ON o.team_id = i.team_id AND o.monitor_id = i.monitor_id AND o.automatic
                AND o.status <> 'resolved' AND o.id <> i.id
        WHERE i.team_id = $1 AND i.id = $2
        """,
        team_id,
        id_,
    )
    return found


async def change(tx: Tx, team_id: int, id_: UUID, given: dict[str, Any]) -> str | None:
    """Write title, description or severity if *given*; return the severity before, None if not found."""
    before: str | None = await tx.fetchval(
        "SELECT severity FROM incidents WHERE team_id = $1 AND id = $2 FOR UPDATE", team_id, id_
    )
    if before is not None:
        await tx.execute(
            """
            UPDATE incidents SET title = coalesce($3, title), description = coalesce($4, description),
                severity = coalesce($5, severity)
            WHERE team_id = $1 AND id = $2
            """,
            team_id,
            id_,
            given.get("title"),
            given.get("description"),
            given.get("severity"),
        )
    return before


async def add_note(
    tx: Tx, team_id: int, incident_id: UUID, id_: UUID, text: str, by: dict[str, Any], now: datetime
) -> None:
    await tx.execute(
        """
        INSERT INTO incident_notes (team_id, id, incident_id, text, created_by, created_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        """,
        team_id,
        id_,
        incident_id,
        text,
        by,
        now,
    )
