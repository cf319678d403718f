"""What reports are computed from: monitors, their pauses, maintenance, outages and incidents."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.history.storage.maintenance import CONCERNS, TIME
from collector.maintenance.core.windows import Selection
from collector.platform.storage.db import Tx

Between = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class ReportedMonitor:
    """*monitor*: its number in the history; *since*: the beginning of it."""

    id: UUID
    monitor: int
    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Outages:
    """The outages that touch a time: their number, and the milliseconds of the longest within it."""

    outages: int
    longest_ms: int


@dataclass(frozen=True, slots=True)
class MeasuredIncident:
    """An incident that started in a time; *downtime_s* as in the API."""

    id: UUID
    monitor_id: UUID | None
    title: str
    monitor_name: str | None
    severity: str
    started_at: datetime
    resolved_at: datetime | None
    downtime_s: int
    acknowledged_s: int | None
    cause: str | None
    note: str | None


async def selected(
    tx: Tx, team_id: int, selection: Selection, page_id: UUID | None, until: datetime
) -> list[ReportedMonitor]:
    """Return the monitors by name that match, or are components of the page, and existed before *until*."""
    rows = await tx.fetch(
        f"""
        SELECT m.id, m.monitor, m.name, b.since
        FROM monitors m CROSS JOIN (
            SELECT $2::boolean AS every, $3::uuid[] AS monitors, $4::text[] AS names, $5::jsonb[] AS pairs
        ) s CROSS JOIN LATERAL (
            SELECT least(m.created_at, (SELECT min(c.since) FROM cadences c WHERE c.monitor = m.monitor))
        ) b (since)
        WHERE m.team_id = $1 AND b.since < $7 AND ({CONCERNS} OR m.id IN (
            SELECT c.monitor_id FROM status_components c WHERE c.team_id = $1 AND c.page_id = $6
        ))
        ORDER BY lower(m.name), m.id
        """,
        team_id,
        selection.every,
        list(selection.monitors),
        selection.names,
        selection.pairs,
        page_id,
        until,
    )
    return [ReportedMonitor(**row) for row in rows]


async def pauses(tx: Tx, monitor: int, since: datetime, until: datetime) -> list[Between]:
    """Return the pauses of a monitor between two moments, cut to them."""
    rows = await tx.fetch(
        """
        SELECT greatest(c.since, $2) AS start, least(c.until, $3) AS end
        FROM (
            SELECT since, cover_s, lead(since, 1, 'infinity') OVER (ORDER BY since) AS until
            FROM cadences WHERE monitor = $1
        ) c
        WHERE c.cover_s IS NULL AND c.since < $3 AND c.until > $2 ORDER BY c.since
        """,
        monitor,
        since,
        until,
    )
    return [(row["start"], row["end"]) for row in rows]


async def maintenance(tx: Tx, monitor: int, since: datetime, until: datetime) -> list[Between]:
    """Return the times under maintenance of a monitor between two moments, cut to them."""
    rows = await tx.fetch(
        f"""
        SELECT greatest(s.starts_at, $2) AS start, least(s.ends_at, $3) AS end
        FROM monitors m JOIN maintenance_spans s USING (team_id)
        WHERE m.monitor = $1 AND {TIME} && tstzrange($2, $3) AND {CONCERNS} ORDER BY s.starts_at
        """,
        monitor,
        since,
        until,
    )
    return [(row["start"], row["end"]) for row in rows]


async def outages(tx: Tx, monitor: int, since: datetime, until: datetime) -> Outages:
    """Return the outages of a monitor as a whole that touch the time between two moments."""
    row = await tx.fetchrow(
        """
        SELECT count(*)::int AS outages, coalesce(max(
            extract(epoch FROM least(coalesce(ended_at, $3), $3) - greatest(started_at, $2)) * 1000
        ), 0)::bigint AS longest_ms
        FROM outages
        WHERE monitor = $1 AND location = 0 AND started_at < $3 AND (ended_at IS NULL OR ended_at > $2)
        """,
        monitor,
        since,
        until,
    )
    return Outages(**row) if row else Outages(0, 0)


async def incidents(
    tx: Tx, team_id: int, monitors: Sequence[UUID] | None, since: datetime, until: datetime, now: datetime
) -> list[MeasuredIncident]:
    """Return the incidents of these monitors, or all of the team, that started in the time, oldest first."""
    rows = await tx.fetch(
        """
        SELECT i.id, i.monitor_id, i.title, i.monitor_name, i.severity, i.started_at, i.resolved_at,
            i.spans_s + CASE WHEN i.status = 'resolved' THEN 0 ELSE
                floor(greatest(0, extract(epoch FROM coalesce(m.paused_at, $5) - i.span_from))) END::bigint
                AS downtime_s,
            round(extract(epoch FROM i.acknowledged_at - i.created_at))::int AS acknowledged_s,
            i.last_error AS cause, i.resolution_note AS note
        FROM incidents i
        LEFT JOIN monitors m ON m.team_id = i.team_id AND m.id = i.monitor_id AND i.automatic
        WHERE i.team_id = $1 AND ($2::uuid[] IS NULL OR i.monitor_id = ANY ($2))
            AND i.started_at >= $3 AND i.started_at < $4
        ORDER BY i.started_at, i.id
        """,
        team_id,
        monitors,
        since,
        until,
        now,
    )
    return [MeasuredIncident(**row) for row in rows]


async def excluded(
    tx: Tx, team_id: int, monitors: Sequence[UUID], since: datetime, until: datetime, limit: int
) -> list[dict[str, Any]]:
    """Return the times under maintenance of any of these monitors: *name* of the window, *start*, *end*."""
    rows = await tx.fetch(
        f"""
        SELECT w.name, greatest(s.starts_at, $3) AS start, least(s.ends_at, $4) AS end
        FROM maintenance_spans s LEFT JOIN maintenance_windows w
            ON w.team_id = s.team_id AND w.id = s.window_id
        WHERE s.team_id = $1 AND {TIME} && tstzrange($3, $4) AND EXISTS (
            SELECT FROM monitors m WHERE m.team_id = $1 AND m.id = ANY ($2) AND {CONCERNS}
        )
        ORDER BY s.starts_at, s.window_id LIMIT $5
        """,
        team_id,
        list(monitors),
        since,
        until,
        limit,
    )
    return [dict(row) for row in rows]
