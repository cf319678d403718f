"""Finds the monitors for which no metrics come any more, and says so as a failed result."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from collector.evaluation.collector_downtime import deafness
from collector.history.core.receptions import ReceptionResult, silent
from collector.metrics.storage import series as table
from collector.metrics.storage.series import Looked, SeriesUpdate
from collector.platform.deadlines import Between, deadline
from collector.platform.storage.db import Db, Tx

_AT_ONCE: Final = 500
_PAUSED_FOR: Final = timedelta(minutes=1)

# Stores what was found in the transaction that found it; what it answers is to be called after the commit.
Write: TypeAlias = Callable[[Tx, Sequence[ReceptionResult]], Awaitable[Callable[[], None]]]


class SeriesSweeper:
    """Any number may run. *since*: see `Steady`."""

    def __init__(
        self,
        db: Db,
        write: Write,
        *,
        since: Callable[[], datetime | None],
        now: Callable[[], datetime],
    ) -> None:
        self._db = db
        self._write = write
        self._since = since
        self._now = now

    async def turn(self) -> bool:
        """Look at those that are due; a clock that was just set says of nobody that he is silent."""
        now, since = self._now(), self._since()
        if since is None:
            return False
        after: Callable[[], None] | None = None
        async with self._db.transaction() as tx:
            looked = await table.due(tx, now, _AT_ONCE)
            if looked:
                monitors = [one.reception.monitor for one in looked]
                oldest = min(one.reception.last_at for one in looked)
                deaf = await deafness(tx, monitors, oldest, since, now)
                seen = [_look(one, deaf[one.reception.monitor], now) for one in looked]
                await table.settle(tx, [next_ for next_, _ in seen])
                found = sorted((one for _, one in seen if one is not None), key=lambda one: one.monitor)
                after = await self._write(tx, found) if found else None
        if after is not None:
            after()
        return len(looked) == _AT_ONCE


def _look(one: Looked, deaf: Sequence[Between], now: datetime) -> tuple[SeriesUpdate, ReceptionResult | None]:
    """What is held of it from now on, and what is to be said of it, if anything."""
    stood, stale_after = one.reception, timedelta(seconds=one.stale_after_s)
    late_at = deadline(stood.last_at, timedelta(), stale_after, deaf)
    late = late_at <= now and not one.paused
    due_at = now + _PAUSED_FOR if one.paused else now + timedelta(seconds=one.interval_s) if late else late_at
    next_ = SeriesUpdate(
        stood.team_id,
        stood.monitor_id,
        one.revision,
        stood.last_at,
        next_at=stood.next_at,
        due_at=due_at,
        bad=stood.bad or late,
        told=late,
    )
    if not late:
        return next_, None
    return next_, ReceptionResult(stood.monitor, now if stood.bad else late_at, silent(one.stale_after_s), 0)
