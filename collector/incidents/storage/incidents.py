"""Incidents as the evaluation opens, reopens, counts and resolves them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx

SYSTEM: dict[str, Any] = {"id": None, "name": "System"}


@dataclass(frozen=True, slots=True)
class OpenedIncident:
    """A new automatic incident."""

    team_id: int
    id: UUID
    monitor_id: UUID
    monitor_name: str
    severity: str
    started_at: datetime


async def open_(tx: Tx, opened: Sequence[OpenedIncident], now: datetime) -> None:
    """Add automatic incidents. The monitors are locked; the unique index refuses a second open one."""
    await tx.execute(
        """
        INSERT INTO incidents (team_id, id, monitor_id, monitor_name, automatic, title, status, severity,
            started_at, span_from, created_at)
        SELECT team_id, id, monitor_id, name, true, name || ' is down', 'open', severity,
            started_at, started_at, $7
        FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[])
            AS u (team_id, id, monitor_id, name, severity, started_at)
        """,
        [one.team_id for one in opened],
        [one.id for one in opened],
        [one.monitor_id for one in opened],
        [one.monitor_name for one in opened],
        [one.severity for one in opened],
        [one.started_at for one in opened],
        now,
    )


async def reopen(tx: Tx, again: Sequence[tuple[int, UUID, datetime]], now: datetime) -> None:
    """Open incidents again, each with a new span from the given moment."""
    await tx.execute(
        """
        UPDATE incidents i SET status = 'open', reopened_at = $4, span_from = u.span_from,
            resolved_at = NULL, resolved_by = NULL, resolution_note = NULL,
            acknowledged_at = NULL, acknowledged_by = NULL, parent_incident_id = NULL
        FROM unnest($1::int[], $2::uuid[], $3::timestamptz[]) AS u (team_id, id, span_from)
        WHERE i.team_id = u.team_id AND i.id = u.id
        """,
        [team_id for team_id, _, _ in again],
        [id_ for _, id_, _ in again],
        [span_from for _, _, span_from in again],
        now,
    )


async def resolve(tx: Tx, ended: Sequence[tuple[int, UUID, datetime]]) -> None:
    """Resolve open incidents as System, each at its given moment."""
    await tx.execute(
        """
        UPDATE incidents i SET status = 'resolved', resolved_at = u.until, resolved_by = $4,
            spans_s = spans_s + floor(greatest(0, extract(epoch FROM u.until - i.span_from)))::bigint
        FROM unnest($1::int[], $2::uuid[], $3::timestamptz[]) AS u (team_id, id, until)
        WHERE i.team_id = u.team_id AND i.id = u.id AND i.status <> 'resolved'
        """,
        [team_id for team_id, _, _ in ended],
        [id_ for _, id_, _ in ended],
        [until for _, _, until in ended],
        SYSTEM,
    )


async def link(tx: Tx, linked: Sequence[tuple[int, UUID, UUID]]) -> None:
    """Link each incident to that of its monitor's parent, which is of the same team."""
    await tx.execute(
        """
        UPDATE incidents i SET parent_incident_id = u.parent
        FROM unnest($1::int[], $2::uuid[], $3::uuid[]) AS u (team_id, id, parent)
        WHERE i.team_id = u.team_id AND i.id = u.id
        """,
        [team_id for team_id, _, _ in linked],
        [id_ for _, id_, _ in linked],
        [parent for _, _, parent in linked],
    )


async def count_failures(tx: Tx, counted: Sequence[tuple[int, UUID, int, str]]) -> None:
    """Add to the incidents' counts of failed checks, and set the newest error."""
    await tx.execute(
        """
        UPDATE incidents i SET failure_count = i.failure_count + u.failures,
            last_error = coalesce(nullif(u.error, ''), i.last_error)
        FROM unnest($1::int[], $2::uuid[], $3::int[], $4::text[]) AS u (team_id, id, failures, error)
        WHERE i.team_id = u.team_id AND i.id = u.id
        """,
        [team_id for team_id, _, _, _ in counted],
        [id_ for _, id_, _, _ in counted],
        [failures for _, _, failures, _ in counted],
        [error for _, _, _, error in counted],
    )
