"""Finds overdue heartbeats and stores a failed result for each."""

from collections.abc import Sequence
from datetime import datetime

from collector.evaluation.collector_downtime import downtimes
from collector.evaluation.jobs.overdue import AT_ONCE, OverdueReceiver, OverdueSweeper, Settle
from collector.heartbeats.core import heartbeat
from collector.heartbeats.core.heartbeat import HeartbeatResult
from collector.heartbeats.storage import heartbeats
from collector.heartbeats.storage.heartbeats import HeartbeatRow, MovedHeartbeat
from collector.platform.clock import TrustedClock
from collector.platform.storage.db import Db, Tx


class HeartbeatSweeper(OverdueSweeper):
    """*receiver*: stores overdue findings, (monitor, finding) each. Any number may run."""

    def __init__(
        self, db: Db, receiver: OverdueReceiver[tuple[int, HeartbeatResult]], *, clock: TrustedClock
    ) -> None:
        super().__init__(db, clock=clock)
        self._receiver = receiver

    async def _sweep(self, tx: Tx, since: datetime, now: datetime) -> tuple[int, Settle | None]:
        due = await heartbeats.due(tx, now, AT_ONCE)
        return len(due), await self._check(tx, due, since, now) if due else None

    async def _check(
        self, tx: Tx, due: Sequence[HeartbeatRow], since: datetime, now: datetime
    ) -> Settle | None:
        oldest = min(
            [now, *(at for before in due for at in (*before.beat.runs.values(), before.beat.base) if at)]
        )
        deaf = await downtimes(tx, [before.monitor for before in due], oldest, since, now)
        moved, late = [], []
        for before in due:
            beat, finding, due_at = heartbeat.check_overdue(
                before.beat, before.plan, deaf[before.monitor], now
            )
            moved.append(MovedHeartbeat(before, beat, due_at, before.ahead_s))
            if finding is not None:
                late.append((before.monitor, finding))
        await heartbeats.save(tx, moved)
        return await self._receiver.store_overdue(tx, late) if late else None
