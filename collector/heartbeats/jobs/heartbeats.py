"""Finds overdue heartbeats and stores a failed result for each."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from collector.evaluation.collector_downtime import downtimes
from collector.evaluation.jobs.overdue import AT_ONCE, OverdueSweeper, Settle
from collector.heartbeats.core import heartbeat
from collector.heartbeats.core.heartbeat import Finding
from collector.heartbeats.storage import heartbeats
from collector.heartbeats.storage.heartbeats import Heartbeat, MovedHeartbeat
from collector.platform.storage.db import Db, Tx

# Stores overdue findings in the transaction that found them; its return value is called after the commit.
Late: TypeAlias = Callable[[Tx, Sequence[tuple[int, Finding]]], Awaitable[Settle]]


class HeartbeatSweeper(OverdueSweeper):
    """Any number may run. *since*: see `ClockGuard`."""

    def __init__(
        self, db: Db, write: Late, *, since: Callable[[], datetime | None], now: Callable[[], datetime]
    ) -> None:
        super().__init__(db, since=since, now=now)
        self._write = write

    async def _sweep(self, tx: Tx, since: datetime, now: datetime) -> tuple[int, Settle | None]:
        found = await heartbeats.due(tx, now, AT_ONCE)
        return len(found), await self._look(tx, found, since, now) if found else None

    async def _look(
        self, tx: Tx, found: Sequence[Heartbeat], since: datetime, now: datetime
    ) -> Settle | None:
        oldest = min([now, *(at for one in found for at in (*one.beat.runs.values(), one.beat.base) if at)])
        deaf = await downtimes(tx, [one.monitor for one in found], oldest, since, now)
        moved, late = [], []
        for one in found:
            beat, said, due_at = heartbeat.check_overdue(one.beat, one.plan, deaf[one.monitor], now)
            moved.append(MovedHeartbeat(one, beat, due_at, one.ahead_s))
            if said is not None:
                late.append((one.monitor, said))
        await heartbeats.save(tx, moved)
        return await self._write(tx, late) if late else None
