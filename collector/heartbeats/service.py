"""Heartbeats for callers: pings by monitor id, and the bodies that pings carried."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from collector.heartbeats.core.heartbeat import Ping, PingSchedule
from collector.heartbeats.storage import heartbeats, ping_bodies
from collector.history.storage.result_reads import Result, ResultCursor
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.platform.storage.db import Db
from shared.errors import Invalid, NotFound
from shared.kinds import ReceiverType

WHAT = "Monitor"


@dataclass(frozen=True, slots=True)
class ReceivedPing:
    """A ping with the hash of its key, and its body."""

    key_hash: bytes
    ping: Ping
    body: bytes = b""


# Takes a ping; returns how many seconds its bucket is ahead, None for an unknown key.
PingTaker: TypeAlias = Callable[[ReceivedPing], Awaitable[float | None]]


async def nobodys(_: ReceivedPing) -> float | None:
    """Take no pings."""
    return None


async def key_of(db: Db, team_id: int, id_: UUID) -> bytes:
    """Return the hash of the monitor's key. Raises NotFound; Invalid if it is no heartbeat."""
    async with db.connection() as tx:
        key = await heartbeats.key_of(tx, team_id, id_)
        if key is None:
            _heartbeat(await table.get(tx, team_id, id_))
            raise NotFound(f"{WHAT} not found")
    return key


@dataclass(frozen=True, slots=True)
class Expectation:
    """*last*: the newest ping that ended a run; *next_at*: when the next one is expected, without its grace.

    Both are None before the first ping of a job that may wait for it.
    """

    plan: PingSchedule
    last: datetime | None
    next_at: datetime | None


async def expectation(db: Db, monitor: Monitor) -> Expectation | None:
    """Return when the pings of a monitor came and are expected; None if it takes no pings."""
    async with db.connection() as tx:
        heartbeat = await heartbeats.of_monitor(tx, monitor.team_id, monitor.id)
    if heartbeat is None:
        return None
    base = heartbeat.beat.base
    awaited = base is not None and monitor.paused_at is None
    return Expectation(
        heartbeat.plan,
        heartbeat.beat.last,
        base + heartbeat.plan.wait_from(base) if awaited and base is not None else None,
    )


async def bodies(db: Db, monitor: Monitor, of: Sequence[Result]) -> dict[ResultCursor, str]:
    """Return the bodies of pings, for those of a heartbeat's results that have any."""
    if monitor.type != ReceiverType.HEARTBEAT or not of:
        return {}
    times = [result.ts for result in of]
    async with db.connection() as tx:
        kept = await ping_bodies.between(tx, monitor.monitor, min(times), max(times))
    return {
        result.cursor: kept[result.ts, result.cursor.n]
        for result in of
        if (result.ts, result.cursor.n) in kept
    }


def _heartbeat(monitor: Monitor | None) -> Monitor:
    if monitor is None:
        raise NotFound(f"{WHAT} not found")
    if monitor.type != ReceiverType.HEARTBEAT:
        raise Invalid({"type": f"a monitor of type {monitor.type} takes no pings"})
    return monitor
