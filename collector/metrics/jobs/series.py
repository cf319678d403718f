"""Finds monitors that stopped receiving metrics and stores a failed result for each."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from collector.evaluation.collector_downtime import downtimes
from collector.evaluation.jobs.overdue import AT_ONCE, OverdueReceiver, OverdueSweeper, Settle
from collector.history.core.receptions import ReceptionResult, silent
from collector.metrics.storage import series as table
from collector.metrics.storage.series import DueSeries, SeriesUpdate
from collector.platform.clock import TrustedClock
from collector.platform.deadlines import Between, deadline
from collector.platform.storage.db import Db, Tx

_PAUSED_FOR: Final = timedelta(minutes=1)


class SeriesSweeper(OverdueSweeper):
    """Reports monitors without pushes as late. Any number may run."""

    def __init__(self, db: Db, receiver: OverdueReceiver[ReceptionResult], *, clock: TrustedClock) -> None:
        super().__init__(db, clock=clock)
        self._receiver = receiver

    async def _sweep(self, tx: Tx, since: datetime, now: datetime) -> tuple[int, Settle | None]:
        looked = await table.due(tx, now, AT_ONCE)
        if not looked:
            return 0, None
        monitors = [due.reception.monitor for due in looked]
        oldest = min(due.reception.last_at for due in looked)
        deaf = await downtimes(tx, monitors, oldest, since, now)
        seen = [_look(due, deaf[due.reception.monitor], now) for due in looked]
        await table.settle(tx, [next_ for next_, _ in seen])
        results = sorted(
            (result for _, result in seen if result is not None), key=lambda result: result.monitor
        )
        return len(looked), await self._receiver.store_overdue(tx, results) if results else None


def _look(
    due: DueSeries, deaf: Sequence[Between], now: datetime
) -> tuple[SeriesUpdate, ReceptionResult | None]:
    """The new state of a due monitor, and its result, if there is one."""
    stood, stale_after = due.reception, timedelta(seconds=due.stale_after_s)
    late_at = deadline(stood.last_at, timedelta(), stale_after, deaf)
    late = late_at <= now and not due.paused
    due_at = now + _PAUSED_FOR if due.paused else now + timedelta(seconds=due.interval_s) if late else late_at
    next_ = SeriesUpdate(
        stood.team_id,
        stood.monitor_id,
        due.revision,
        stood.last_at,
        next_at=stood.next_at,
        due_at=due_at,
        bad=stood.bad or late,
        reported=late,
    )
    if not late:
        return next_, None
    return next_, ReceptionResult(stood.monitor, now if stood.bad else late_at, silent(due.stale_after_s), 0)
