"""Finds overdue heartbeats and stores a failed result for each."""

from collections.abc import Sequence
from datetime import datetime

from collector.evaluation.collector_downtime import downtimes
from collector.evaluation.jobs.overdue import AT_ONCE, OverdueReceiver, OverdueSweeper, Settle
from collector.heartbeats.core import heartbeat
from collector.heartbeats.core.heartbeat import Finding
from collector.heartbeats.storage import heartbeats
from collector.heartbeats.storage.heartbeats import Heartbeat, MovedHeartbeat
from collector.platform.clock import TrustedClock
from collector.platform.storage.db import Db, Tx


class HeartbeatSweeper(OverdueSweeper):
    """*receiver*: stores overdue findings, (monitor, finding) each. Any number may run."""

    def __init__(
        self, db: Db, receiver: OverdueReceiver[tuple[int, Finding]], *, clock: TrustedClock
    ) -> None:
        super().__init__(db, clock=clock)
        self._receiver = receiver

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
        return await self._receiver.store_overdue(tx, late) if late else None
