"""Numbers of one monitor: its last day of results, its outages, and what each location thinks of it now."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.storage.db import Tx


@dataclass(frozen=True, slots=True)
class LastDay:
    """*latency_ms* and the percentiles are of good checks; *good* and *judged* count scheduled ones only."""

    checks_today: int
    latency_ms: float | None
    percentiles_ms: list[float] | None
    good: int
    judged: int


async def last_day(tx: Tx, monitor: int, since: datetime, midnight: datetime) -> LastDay:
    """All results since *since*, which is before *midnight*; 50th, 95th and 99th percentiles."""
    row = await tx.fetchrow(
        """
        SELECT count(*) FILTER (WHERE r.ts >= $3) AS checks_today,
            (avg(r.ms) FILTER (WHERE r.status = 1))::float8 AS latency_ms,
            percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY r.ms)
                FILTER (WHERE r.status = 1) AS percentiles_ms,
            count(*) FILTER (WHERE r.run = 1 AND r.status = 1) AS good,
            count(*) FILTER (WHERE r.run = 1 AND r.status IN (1, 2)) AS judged
        FROM locations l CROSS JOIN LATERAL (
            SELECT r.ts, r.ms, r.status, r.run FROM results r
            WHERE r.monitor = $1 AND r.location = l.location AND r.ts >= $2
        ) r
        """,
        monitor,
        since,
        midnight,
    )
    assert row is not None  # noqa: S101 - an aggregate without GROUP BY always has its row
    return LastDay(**row)


async def first_result(tx: Tx, monitor: int, since: datetime) -> datetime | None:
    """The start of the oldest check since *since*."""
    found: datetime | None = await tx.fetchval(
        """
        SELECT min(r.ts) FROM locations l CROSS JOIN LATERAL (
            SELECT r.ts FROM results r
            WHERE r.monitor = $1 AND r.location = l.location AND r.ts >= $2 ORDER BY r.ts LIMIT 1
        ) r
        """,
        monitor,
        since,
    )
    return found


@dataclass(frozen=True, slots=True)
class Incident:
    """An automatic incident's time: closed spans in seconds, and the start of the present one."""

    started_at: datetime
    span_from: datetime
    spans_s: int
    resolved_at: datetime | None


async def incidents(tx: Tx, team_id: int, monitor_id: UUID, since: datetime) -> list[Incident]:
    """Those that were open at some time since *since*."""
    rows = await tx.fetch(
        """
        SELECT started_at, span_from, spans_s, resolved_at FROM incidents
        WHERE team_id = $1 AND monitor_id = $2 AND automatic AND (resolved_at IS NULL OR resolved_at > $3)
        """,
        team_id,
        monitor_id,
        since,
    )
    return [Incident(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class AtLocation:
    """What is known at one location."""

    name: str
    failing: bool
    fails: int
    failed_since: datetime | None
    last_at: datetime | None
    last_status: int | None
    last_ms: int | None
    last_error: str | None


async def attended(tx: Tx, monitor: int) -> set[str]:
    """Locations at which some probe checks it."""
    rows = await tx.fetch(
        """
        SELECT l.name FROM states s JOIN locations l USING (location)
        WHERE s.monitor = $1 AND s.probe_id IS NOT NULL
        """,
        monitor,
    )
    return {row["name"] for row in rows}


async def at_locations(tx: Tx, monitor: int) -> list[AtLocation]:
    """By turn."""
    rows = await tx.fetch(
        """
        SELECT l.name, s.failing, s.fails, s.failed_since, s.last_at, s.last_status, s.last_ms,
            e.text AS last_error
        FROM states s JOIN locations l USING (location) LEFT JOIN errors e ON e.error = s.last_error
        WHERE s.monitor = $1 ORDER BY s.turn
        """,
        monitor,
    )
    return [AtLocation(**row) for row in rows]
