"""Heartbeats as callers deal with them: a new key, and pings by the monitor's id."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.core import events as payloads
from collector.core.heartbeat import Ping
from collector.services import announcing, receiving
from collector.services.monitor_columns import columns, settings_of, whole_config
from collector.services.monitors import Means, record
from collector.storage import events, heartbeats, ping_bodies
from collector.storage import monitors as table
from collector.storage.contention import giving_way
from collector.storage.db import Db, Tx
from collector.storage.monitors import Monitor
from collector.storage.result_reads import Cursor, Result
from shared.errors import Invalid, NotFound
from shared.kinds import load
from shared.kinds.heartbeat import Heartbeat

WHAT = "Monitor"


@dataclass(frozen=True, slots=True)
class Arrived:
    """A ping under its key, and what it brought."""

    key_hash: bytes
    ping: Ping
    body: bytes = b""


async def nobodys(_: Arrived) -> float | None:
    """For where no pings are taken."""
    return None


async def key_of(db: Db, team_id: int, id_: UUID) -> bytes:
    """The hash of the monitor's key. Raises NotFound; Invalid when it is no heartbeat."""
    async with db.connection() as tx:
        found = await heartbeats.key_of(tx, team_id, id_)
        if found is None:
            _heartbeat(await table.get(tx, team_id, id_))
            raise NotFound(f"{WHAT} not found")
    return found


async def bodies(db: Db, monitor: Monitor, of: Sequence[Result]) -> dict[Cursor, dict[str, str]]:
    """What pings brought, for those of a heartbeat's results that have any."""
    if monitor.type != "heartbeat" or not of:
        return {}
    times = [one.ts for one in of]
    async with db.connection() as tx:
        found = await ping_bodies.between(tx, monitor.monitor, min(times), max(times))
    return {
        one.cursor: {"body": found[one.ts, one.cursor.n]} for one in of if (one.ts, one.cursor.n) in found
    }


async def rotate(means: Means, team_id: int, id_: UUID, now: datetime) -> str:
    """Give it a new key; the old one is nobody's from now on. Raises as `key_of`."""

    async def deed(tx: Tx) -> str:
        before = _heartbeat(await table.lock(tx, team_id, id_))
        kind = load(before.type, whole_config(means.keyring, before))
        assert isinstance(kind, Heartbeat)  # noqa: S101 - its type says so
        renewed = receiving.with_new_key(kind)
        written = await columns(tx, means.keyring, (team_id, id_), settings_of(before), renewed, now)
        await table.save(tx, team_id, id_, written, before.revision + 1, now)
        after = _heartbeat(await table.get(tx, team_id, id_))
        await receiving.keep(tx, after, renewed, now)
        await record(tx, means.who, "rotate-key", after)
        await events.append_all(tx, [announcing.change(payloads.UPDATED, after, now)], now)
        return renewed.ping_key

    return await giving_way(means.db, deed)


def _heartbeat(monitor: Monitor | None) -> Monitor:
    if monitor is None:
        raise NotFound(f"{WHAT} not found")
    if monitor.type != "heartbeat":
        raise Invalid({"type": f"a monitor of type {monitor.type} takes no pings"})
    return monitor
