"""Loads which results alert rules wait for."""

from collections.abc import Sequence
from typing import Any

from collector.alerts.storage import watch as table
from collector.alerts.storage.watch import PendingMonitor
from collector.evaluation.watched_results import WatchedMonitor
from collector.platform.storage.db import Db

_NEVER = 2**31


class Watch:
    """The watched results of this collector: knows a moment after a rule was made which results it needs."""

    __slots__ = ("_db", "_mark", "monitors")

    def __init__(self, db: Db) -> None:
        self._db = db
        self._mark: tuple[Any, ...] | None = None
        self.monitors: dict[int, WatchedMonitor] = {}

    async def turn(self) -> bool:
        """Reload which results the rules need, if anything has changed."""
        async with self._db.connection() as tx:
            mark = await table.mark(tx)
            if mark != self._mark:
                self.monitors = merged(await table.waited(tx))
                self._mark = mark
        return False


def merged(waited: Sequence[PendingMonitor]) -> dict[int, WatchedMonitor]:
    """Combine what the rules of each monitor wait for, by the monitors' numbers."""
    found: dict[int, WatchedMonitor] = {}
    for one in waited:
        before = found.get(one.monitor)
        limit = _NEVER if one.slower_than_ms is None else one.slower_than_ms
        codes = frozenset() if one.code is None else frozenset({one.code})
        found[one.monitor] = WatchedMonitor(
            one.team_id,
            one.id,
            one.timeout_s,
            min(limit, before.slower_than_ms) if before else limit,
            codes | before.codes if before else codes,
        )
    return found
