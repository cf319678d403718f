"""Finds the jobs whose ping is late, and says so as a failed result."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from collector.evaluation.collector_downtime import deafness
from collector.heartbeats.core import heartbeat
from collector.heartbeats.core.heartbeat import Finding
from collector.heartbeats.storage import heartbeats
from collector.heartbeats.storage.heartbeats import Heartbeat, MovedHeartbeat
from collector.platform.storage.db import Db, Tx

_AT_ONCE: Final = 500


# Stores what is late in the transaction that found it; what it answers is to be called after the commit.
Late: TypeAlias = Callable[[Tx, Sequence[tuple[int, Finding]]], Awaitable[Callable[[], None]]]


class HeartbeatSweeper:
    """Any number may run. *since*: see `Steady`."""

    def __init__(
        self,
        db: Db,
        write: Late,
        *,
        since: Callable[[], datetime | None],
        now: Callable[[], datetime],
    ) -> None:
        self._db = db
        self._write = write
        self._since = since
        self._now = now

    async def turn(self) -> bool:
        """Look at those that are due; a clock that was just set says of nobody that he is late."""
        now, since = self._now(), self._since()
        if since is None:
            return False
        after: Callable[[], None] | None = None
        async with self._db.transaction() as tx:
            found = await heartbeats.due(tx, now, _AT_ONCE)
            if found:
                after = await self._look(tx, found, since, now)
        if after is not None:
            after()
        return len(found) == _AT_ONCE

    async def _look(
        self, tx: Tx, found: Sequence[Heartbeat], since: datetime, now: datetime
    ) -> Callable[[], None] | None:
        oldest = min([now, *(at for one in found for at in (*one.beat.runs.values(), one.beat.base) if at)])
        deaf = await deafness(tx, [one.monitor for one in found], oldest, since, now)
        moved, late = [], []
        for one in found:
            beat, said, due_at = heartbeat.look(one.beat, one.plan, deaf[one.monitor], now)
            moved.append(MovedHeartbeat(one, beat, due_at, one.ahead_s))
            if said is not None:
                late.append((one.monitor, said))
        await heartbeats.save(tx, moved)
        return await self._write(tx, late) if late else None
