"""Computes the coming spans of maintenance windows, and marks hours for a new rollup."""

from datetime import datetime

from collector.history.storage import partitions
from collector.maintenance.core.windows import lay
from collector.maintenance.storage import spans, windows
from collector.platform.storage.db import Db
from shared.clock import UtcClock

_WINDOWS = 20
_MONITORS = 50


class Maintenance:
    """Computes spans of maintenance windows. Any number may run: each skips rows locked by others."""

    def __init__(self, db: Db, *, now: UtcClock) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        """Process a bounded batch of each kind. Return whether more are waiting."""
        now = self._now()
        laid = await self._lay(now)
        counted = await self._recount(now)
        return laid or counted

    async def _lay(self, now: datetime) -> bool:
        """Compute due spans, including those that should have begun while no collector ran."""
        async with self._db.transaction() as tx:
            due = await windows.lock_due(tx, now, _WINDOWS)
            for row in due:
                more = lay(row.schedule, row.laid_until, now)
                await spans.lay(tx, row.team_id, row.id, more.spans, row.selection, now)
                await windows.laid(tx, row.team_id, row.id, more)
        return bool(due)

    async def _recount(self, now: datetime) -> bool:
        async with self._db.transaction() as tx:
            since = await partitions.whole_since(tx, now.date())
            return await spans.recount(tx, since, _MONITORS)
