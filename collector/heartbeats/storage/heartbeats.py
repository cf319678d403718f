"""Heartbeats: the schedule of each, and when it becomes overdue."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.heartbeats.core.heartbeat import Beat, PingSchedule
from collector.platform.pace import PaceLimit
from collector.platform.storage.db import Tx
from collector.platform.storage.give_way import patiently
from shared.clock import EPOCH

_MS = timedelta(milliseconds=1)
_COLUMNS = """
    h.team_id, h.id, h.monitor, h.key_hash, h.wait_s, h.cron, h.zone, h.grace_s, h.max_run_s,
    h.min_interval_s, h.base_at, h.last_at, h.runs, extract(epoch FROM h.paced_at - now())::float8 AS ahead_s
"""


@dataclass(frozen=True, slots=True)
class HeartbeatRow:
    """A row: its *plan* of pings, and its state.

    *ahead_s*: how far its pings are ahead of their pace, by the database's clock.
    """

    team_id: int
    id: UUID
    monitor: int
    key_hash: bytes
    plan: PingSchedule
    beat: Beat
    ahead_s: float


@dataclass(frozen=True, slots=True)
class MovedHeartbeat:
    """A row after a ping or a check for overdue ones."""

    heartbeat: HeartbeatRow
    beat: Beat
    due_at: datetime | None
    ahead_s: float


@dataclass(frozen=True, slots=True)
class SetSchedule:
    """The schedule of the monitor *id*, as it was set; *base_at* only counts for a new one.

    *cover_s*: for how long a ping counts.
    """

    id: UUID
    key_hash: bytes
    plan: PingSchedule
    cover_s: int
    base_at: datetime | None


@dataclass(frozen=True, slots=True)
class GoodPing:
    """A good ping; *ms*: the run time that it reports, or 0."""

    key_hash: bytes
    ms: int


@dataclass(frozen=True, slots=True)
class TakenPing:
    """A good ping that was taken; *n*: of its result, *ahead_s*: as in `HeartbeatRow`."""

    key_hash: bytes
    monitor: int
    ms: int
    n: int
    ahead_s: float


async def put(tx: Tx, team_id: int, schedules: Sequence[SetSchedule]) -> None:
    """Write the schedules of monitors whose rows are locked. What was due is checked anew at once."""
    await tx.execute(
        """
        INSERT INTO heartbeats AS h (team_id, id, monitor, key_hash, wait_s, cron, zone, grace_s, max_run_s,
            min_interval_s, cover_s, base_at, due_at)
        SELECT m.team_id, m.id, m.monitor, u.key_hash, u.wait_s, u.cron, u.zone, u.grace_s, u.max_run_s,
            u.min_interval_s, u.cover_s, u.base_at,
            CASE WHEN m.paused_at IS NULL THEN '-infinity'::timestamptz END
        FROM unnest($2::uuid[], $3::bytea[], $4::int[], $5::text[], $6::text[], $7::int[], $8::int[],
            $9::int[], $10::int[], $11::timestamptz[])
            AS u (id, key_hash, wait_s, cron, zone, grace_s, max_run_s, min_interval_s, cover_s, base_at)
        JOIN monitors m ON m.team_id = $1 AND m.id = u.id
        ON CONFLICT (team_id, id) DO UPDATE SET key_hash = excluded.key_hash, wait_s = excluded.wait_s,
            cron = excluded.cron, zone = excluded.zone, grace_s = excluded.grace_s,
            max_run_s = excluded.max_run_s, min_interval_s = excluded.min_interval_s,
            cover_s = excluded.cover_s, due_at = excluded.due_at
        """,
        team_id,
        [each.id for each in schedules],
        [each.key_hash for each in schedules],
        [_seconds(each.plan.wait) for each in schedules],
        [each.plan.cron for each in schedules],
        [each.plan.zone for each in schedules],
        [_seconds(each.plan.grace) for each in schedules],
        [_seconds(each.plan.max_run) for each in schedules],
        [_seconds(each.plan.min_interval) for each in schedules],
        [each.cover_s for each in schedules],
        [each.base_at for each in schedules],
    )


async def look_again(tx: Tx, team_id: int, id_: UUID) -> None:
    """After a pause or a resume, in its transaction: stop checking a paused one, check another at once."""
    await tx.execute(
        """
        UPDATE heartbeats h SET due_at = CASE WHEN m.paused_at IS NULL THEN '-infinity'::timestamptz END
        FROM monitors m
        WHERE h.team_id = $1 AND h.id = $2 AND m.team_id = h.team_id AND m.id = h.id
        """,
        team_id,
        id_,
    )


async def key_of(tx: Tx, team_id: int, id_: UUID) -> bytes | None:
    """Return the hash of the monitor's key; None if it is no heartbeat."""
    key: bytes | None = await tx.fetchval(
        "SELECT key_hash FROM heartbeats WHERE team_id = $1 AND id = $2", team_id, id_
    )
    return key


async def hold(tx: Tx, team_id: int, id_: UUID) -> bool:
    """Lock a monitor's heartbeat before the monitor, in the order of pings; return whether it is one."""
    held = "SELECT FROM heartbeats WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE"
    return bool(await patiently(tx, tx.fetch(held, team_id, id_)))


async def hold_all(tx: Tx, team_id: int, ids: Sequence[UUID]) -> None:
    """Lock the heartbeats among these monitors before the monitors, in the order of pings."""
    await tx.execute(
        "SELECT FROM heartbeats WHERE team_id = $1 AND id = ANY($2) ORDER BY key_hash FOR NO KEY UPDATE",
        team_id,
        ids,
    )


async def of_monitor(tx: Tx, team_id: int, id_: UUID) -> HeartbeatRow | None:
    """Return the heartbeat of a monitor, not locked; None if it is none."""
    row = await tx.fetchrow(
        f"SELECT {_COLUMNS} FROM heartbeats h WHERE h.team_id = $1 AND h.id = $2", team_id, id_
    )
    return None if row is None else _read(row)


async def lock(tx: Tx, keys: Sequence[bytes]) -> dict[bytes, HeartbeatRow]:
    """Return the heartbeats with these keys, locked in the order of their keys."""
    rows = await tx.fetch(
        f"""
        SELECT {_COLUMNS} FROM heartbeats h WHERE h.key_hash = ANY($1)
        ORDER BY h.key_hash FOR NO KEY UPDATE
        """,
        list(keys),
    )
    return {row["key_hash"]: _read(row) for row in rows}


async def due(tx: Tx, now: datetime, limit: int) -> list[HeartbeatRow]:
    """Return due heartbeats, locked, by their monitors; other collectors may process the rest."""
    rows = await tx.fetch(
        f"""
        SELECT {_COLUMNS} FROM heartbeats h WHERE h.due_at <= $1
        ORDER BY h.due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
        """,
        now,
        limit,
    )
    return sorted((_read(row) for row in rows), key=lambda heartbeat: heartbeat.monitor)


async def take_good(
    tx: Tx, pings: Sequence[GoodPing], rate: PaceLimit, salt: int, now: datetime
) -> list[TakenPing]:
    """Take good pings, at most one per key, in the order of their keys; return those taken.

    Only where no decision is needed: the wait is fixed, no run is unfinished, the
    monitor is neither paused nor failing, and it is within its rate. Joins must use indexes (see `locks`).
    Raises SerializationError if one began to fail meanwhile: the retry leaves it out.
    """
    rows = await tx.fetch(
        _TAKE_GOOD,
        [ping.key_hash for ping in pings],
        [ping.ms for ping in pings],
        salt,
        rate.apart_s,
        rate.most_s,
        now,
    )
    return [TakenPing(row["key_hash"], row["monitor"], row["ms"], row["n"], row["ahead_s"]) for row in rows]


# The decisions of heartbeats/core/heartbeat.py and probes/core/pace.py, in simple cases.
_EXPECTED = """
    CASE WHEN $6::timestamptz < h.base_at THEN h.base_at ELSE h.base_at + h.wait_s * interval '1 second' END
"""
_SERVED = f"""
    CASE WHEN $6 < {_EXPECTED}
        AND {_EXPECTED} <= $6 + least(h.grace_s, h.wait_s / 10.0) * interval '1 second'
        THEN {_EXPECTED} ELSE $6 END
"""
_TAKE_GOOD = f"""
    WITH came AS (
        UPDATE heartbeats h SET base_at = {_SERVED}, last_at = $6,
            due_at = {_SERVED} + (h.wait_s + h.grace_s) * interval '1 second',
            paced_at = $4::float8 * interval '1 second' + CASE
                WHEN h.paced_at BETWEEN now() AND now() + $5::float8 * interval '1 second' THEN h.paced_at
                ELSE now() END
        FROM unnest($1::bytea[], $2::int[]) WITH ORDINALITY AS u (key_hash, ms, place), monitors m, states s
        WHERE h.key_hash = u.key_hash AND h.wait_s IS NOT NULL AND h.min_interval_s IS NULL
            AND h.runs = '{{}}' AND (h.paced_at <= now() + $5::float8 * interval '1 second'
                OR h.paced_at > now() + 2 * $5::float8 * interval '1 second')
            AND m.team_id = h.team_id AND m.id = h.id AND m.paused_at IS NULL
            AND s.monitor = h.monitor AND NOT s.failing AND s.fails = 0
        RETURNING h.key_hash, h.monitor, s.location, u.ms, (($3::bigint + u.place) & 32767)::smallint AS n,
            extract(epoch FROM h.paced_at - now())::float8 AS ahead_s
    ), moved AS (
        UPDATE states s SET last_at = $6, last_status = 1, last_ms = c.ms, last_error = NULL
        FROM (SELECT * FROM came ORDER BY monitor) c
        WHERE s.monitor = c.monitor AND s.location = c.location AND NOT s.failing AND s.fails = 0
        RETURNING s.monitor
    ), stored AS (
        INSERT INTO results (ts, monitor, ms, location, n, run, status)
        SELECT $6, monitor, ms, location, n, 1, 1 FROM came
    ), marked AS (
        INSERT INTO rollups_dirty (monitor, at)
        SELECT monitor, hour FROM came, date_trunc('hour', $6::timestamptz, 'UTC') hour, rollups_done
        WHERE hour < rollups_done.until
    )
    -- CASE, unlike OR, is evaluated in this order.
    SELECT key_hash, monitor, ms, n, ahead_s FROM came
    WHERE CASE WHEN (SELECT count(*) FROM moved) = (SELECT count(*) FROM came) THEN true
        ELSE serialization_failure('a monitor began to fail while its ping was taken') END
"""


async def save(tx: Tx, moved: Sequence[MovedHeartbeat]) -> None:
    """Write the states; a paused heartbeat is not checked."""
    await tx.execute(
        """
        UPDATE heartbeats h SET base_at = u.base_at, last_at = u.last_at, runs = u.runs,
            due_at = CASE WHEN m.paused_at IS NULL THEN u.due_at END,
            paced_at = now() + u.ahead_s * interval '1 second'
        FROM unnest($1::int[], $2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::jsonb[],
                $6::timestamptz[], $7::float8[]) AS u (team_id, id, base_at, last_at, runs, due_at, ahead_s)
        JOIN monitors m ON m.team_id = u.team_id AND m.id = u.id
        WHERE h.team_id = u.team_id AND h.id = u.id
        """,
        [change.heartbeat.team_id for change in moved],
        [change.heartbeat.id for change in moved],
        [change.beat.base for change in moved],
        [change.beat.last for change in moved],
        [{rid: (at - EPOCH) // _MS for rid, at in change.beat.runs.items()} for change in moved],
        [change.due_at for change in moved],
        [change.ahead_s for change in moved],
    )


async def pauses(tx: Tx, monitors: Sequence[int]) -> list[tuple[int, datetime, datetime]]:
    """Return (monitor, from, until) of the past pauses of these monitors."""
    rows = await tx.fetch(
        """
        SELECT monitor, since, until FROM (
            SELECT c.monitor, c.since, c.cover_s, lead(c.since) OVER (
                PARTITION BY c.monitor ORDER BY c.since
            ) AS until
            FROM cadences c WHERE c.monitor = ANY($1)
        ) spans
        WHERE cover_s IS NULL AND until IS NOT NULL
        """,
        list(monitors),
    )
    return [(row["monitor"], row["since"], row["until"]) for row in rows]


def _read(row: Any) -> HeartbeatRow:
    plan = PingSchedule(
        _span(row["wait_s"]),
        row["cron"],
        row["zone"],
        timedelta(seconds=row["grace_s"]),
        _span(row["max_run_s"]),
        _span(row["min_interval_s"]),
    )
    runs = {rid: EPOCH + ms * _MS for rid, ms in row["runs"].items()}
    beat = Beat(row["base_at"], row["last_at"], runs)
    return HeartbeatRow(
        row["team_id"], row["id"], row["monitor"], row["key_hash"], plan, beat, row["ahead_s"]
    )


def _span(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else int(span.total_seconds())
