"""The open incident of a monitor that is resumed, silenced or deleted, and the monitor of an incident."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from collector.evaluation.storage.locked_monitors import LatestIncident
from collector.platform.storage.db import Tx


async def newest(tx: Tx, team_id: int, monitor_id: UUID) -> LatestIncident | None:
    """The open automatic incident, else the one last open, locked; the monitor is locked already."""
    row = await tx.fetchrow(
        """
        SELECT id, severity, started_at, span_from, spans_s, coalesce(last_error, '') AS last_error,
            resolved_at, resolved_by
        FROM incidents WHERE team_id = $1 AND monitor_id = $2 AND automatic
        ORDER BY resolved_at IS NOT NULL, coalesce(reopened_at, created_at) DESC LIMIT 1 FOR UPDATE
        """,
        team_id,
        monitor_id,
    )
    return LatestIncident(**row) if row else None


async def unresolved(tx: Tx, team_id: int, monitors: Sequence[UUID]) -> set[UUID]:
    """Return those of the monitors with an open automatic incident."""
    rows = await tx.fetch(
        """
        SELECT monitor_id FROM incidents
        WHERE team_id = $1 AND monitor_id = ANY($2) AND automatic AND status <> 'resolved'
        """,
        team_id,
        monitors,
    )
    return {row["monitor_id"] for row in rows}


async def lock_monitor(tx: Tx, team_id: int, incident_id: UUID) -> None:
    """Lock the monitor of an automatic incident, if it exists: the evaluation may change both."""
    await tx.execute(
        """
        SELECT FROM monitors WHERE team_id = $1 AND id = (
            SELECT monitor_id FROM incidents WHERE team_id = $1 AND id = $2 AND automatic
        ) FOR NO KEY UPDATE
        """,
        team_id,
        incident_id,
    )


async def leave_out(tx: Tx, team_id: int, monitor_id: UUID, paused_at: datetime, now: datetime) -> None:
    """Exclude a pause that ends from the downtime of the open incident."""
    await tx.execute(
        """
        UPDATE incidents SET span_from = $4,
            spans_s = spans_s + floor(greatest(0, extract(epoch FROM $3 - span_from)))::bigint
        WHERE team_id = $1 AND monitor_id = $2 AND automatic AND status <> 'resolved'
        """,
        team_id,
        monitor_id,
        paused_at,
        now,
    )
