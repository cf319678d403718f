"""What monitors of pushed metrics received: how much, when, and the newest value of each series."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class SeriesMonitor:
    """A monitor's data needed for receiving pushes; *secrets* are sealed."""

    team_id: int
    id: UUID
    monitor: int
    type: str
    config: dict[str, Any]
    secrets: bytes | None
    interval_s: int
    revision: int


@dataclass(frozen=True, slots=True)
class SampleCount:
    """The number of new matching samples of a monitor; *look_in*: when to check it."""

    team_id: int
    id: UUID
    revision: int
    samples: int
    look_in: timedelta


@dataclass(frozen=True, slots=True)
class Reception:
    """A row of receptions; *due*: whether its next result is due."""

    team_id: int
    monitor_id: UUID
    monitor: int
    revision: int
    last_at: datetime
    samples: int
    bad: bool
    next_at: datetime
    due: bool


@dataclass(frozen=True, slots=True)
class DueSeries:
    """A due row with its current monitor. A paused monitor is never late."""

    reception: Reception
    config: dict[str, Any]
    interval_s: int
    revision: int
    paused: bool

    @property
    def stale_after_s(self) -> int:
        return self.config.get("staleAfter") or 3 * self.interval_s


@dataclass(frozen=True, slots=True)
class SeriesUpdate:
    """The new state of a monitor after a result, or after a check without one."""

    team_id: int
    monitor_id: UUID
    revision: int
    last_at: datetime
    next_at: datetime
    due_at: datetime
    bad: bool
    reported: bool


@dataclass(frozen=True, slots=True)
class SeriesValue:
    """The latest sample of a series, at *at* by its sender's clock."""

    key: bytes
    labels: dict[str, str]
    at: datetime
    value: float | None
    stale: bool
    seen_at: datetime


async def receiver(tx: Tx, id_: UUID) -> SeriesMonitor | None:
    """The monitor with that id, of any team: its token authorizes the sender."""
    row = await tx.fetchrow(
        """
        SELECT team_id, id, monitor, type, config, secrets, interval_s, revision
        FROM monitors WHERE id = $1
        """,
        id_,
    )
    return SeriesMonitor(**row) if row else None


async def note(tx: Tx, brought: Sequence[SampleCount], now: datetime) -> list[Reception]:
    """Count the samples; return each monitor's new state, ordered by number."""
    rows = await tx.fetch(
        """
        INSERT INTO receptions AS r
            (team_id, monitor_id, monitor, revision, last_at, samples, next_at, due_at)
        SELECT m.team_id, m.id, m.monitor, u.revision, $6, u.samples, $6, $6::timestamptz + u.look_in
        FROM unnest($1::int[], $2::uuid[], $3::int[], $4::bigint[], $5::interval[])
            AS u (team_id, id, revision, samples, look_in)
        JOIN monitors m ON m.team_id = u.team_id AND m.id = u.id
        ORDER BY m.team_id, m.id
        FOR KEY SHARE OF m
        ON CONFLICT (team_id, monitor_id) DO UPDATE SET
            last_at = greatest(r.last_at, excluded.last_at), samples = r.samples + excluded.samples
        RETURNING r.team_id, r.monitor_id, r.monitor, r.revision, r.last_at, r.samples, r.bad,
            r.next_at, r.next_at <= $6 AS due
        """,
        [push.team_id for push in brought],
        [push.id for push in brought],
        [push.revision for push in brought],
        [push.samples for push in brought],
        [push.look_in for push in brought],
        now,
    )
    return sorted((Reception(**row) for row in rows), key=lambda push: push.monitor)


async def due(tx: Tx, now: datetime, limit: int) -> list[DueSeries]:
    """Lock the rows due by now, skipping locked ones."""
    rows = await tx.fetch(
        """
        SELECT r.team_id, r.monitor_id, r.monitor, r.revision AS of_revision, r.last_at, r.samples, r.bad,
            r.next_at, r.next_at <= $1 AS due,
            m.config, m.interval_s, m.revision, m.paused_at IS NOT NULL AS paused
        FROM receptions r JOIN monitors m ON m.team_id = r.team_id AND m.id = r.monitor_id
        WHERE r.due_at <= $1 ORDER BY r.due_at LIMIT $2
        FOR NO KEY UPDATE OF r SKIP LOCKED
        """,
        now,
        limit,
    )
    return [
        DueSeries(
            Reception(
                row["team_id"],
                row["monitor_id"],
                row["monitor"],
                row["of_revision"],
                row["last_at"],
                row["samples"],
                row["bad"],
                row["next_at"],
                row["due"],
            ),
            row["config"],
            row["interval_s"],
            row["revision"],
            row["paused"],
        )
        for row in rows
    ]


async def settle(tx: Tx, after: Sequence[SeriesUpdate]) -> None:
    """Store new states; *reported*: with a result, after which samples are counted from zero."""
    await tx.execute(
        """
        UPDATE receptions r SET revision = u.revision, last_at = u.last_at, next_at = u.next_at,
            due_at = u.due_at, bad = u.bad, samples = CASE WHEN u.reported THEN 0 ELSE r.samples END
        FROM unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[], $5::timestamptz[],
                $6::timestamptz[], $7::boolean[], $8::boolean[])
            AS u (team_id, monitor_id, revision, last_at, next_at, due_at, bad, reported)
        WHERE r.team_id = u.team_id AND r.monitor_id = u.monitor_id
        """,
        [state.team_id for state in after],
        [state.monitor_id for state in after],
        [state.revision for state in after],
        [state.last_at for state in after],
        [state.next_at for state in after],
        [state.due_at for state in after],
        [state.bad for state in after],
        [state.reported for state in after],
    )


async def keep(tx: Tx, team_id: int, monitor_id: UUID, values: Sequence[SeriesValue]) -> None:
    """Store newer values; those of deleted monitors are dropped."""
    values = sorted(values, key=lambda value: value.key)
    await tx.execute(
        """
        INSERT INTO series AS s (team_id, monitor_id, key, labels, at, value, stale, seen_at)
        SELECT m.team_id, m.id, u.key, u.labels, u.at, u.value, u.stale, u.seen_at
        FROM (SELECT team_id, id FROM monitors WHERE team_id = $1 AND id = $2 FOR KEY SHARE) m,
            unnest($3::bytea[], $4::jsonb[], $5::timestamptz[], $6::float8[], $7::boolean[],
                $8::timestamptz[]) AS u (key, labels, at, value, stale, seen_at)
        ON CONFLICT (team_id, monitor_id, key) DO UPDATE SET
            at = excluded.at, value = excluded.value, stale = excluded.stale, seen_at = excluded.seen_at
        WHERE excluded.at > s.at
        """,
        team_id,
        monitor_id,
        [value.key for value in values],
        [value.labels for value in values],
        [value.at for value in values],
        [value.value for value in values],
        [value.stale for value in values],
        [value.seen_at for value in values],
    )


async def forget(tx: Tx, before: datetime) -> None:
    """Delete series without samples since then."""
    await tx.execute("DELETE FROM series WHERE seen_at < $1", before)
    await tx.execute("DELETE FROM series_conditions WHERE at < $1", before)


async def page(
    tx: Tx, team_id: int, monitor_id: UUID, metric: str | None, limit: int, offset: int
) -> tuple[list[SeriesValue], int]:
    """A page of a monitor's series, by metric name, and their total number."""
    rows = await tx.fetch(
        """
        SELECT key, labels, at, value, stale, seen_at, count(*) OVER () AS total FROM series
        WHERE team_id = $1 AND monitor_id = $2 AND ($3::text IS NULL OR labels ->> '__name__' = $3)
        ORDER BY labels ->> '__name__', key LIMIT $4 OFFSET $5
        """,
        team_id,
        monitor_id,
        metric,
        limit,
        offset,
    )
    if not rows and offset:
        return [], (await page(tx, team_id, monitor_id, metric, 1, 0))[1]
    values = [SeriesValue(*(row[name] for name in SeriesValue.__slots__)) for row in rows]
    return values, rows[0]["total"] if rows else 0
