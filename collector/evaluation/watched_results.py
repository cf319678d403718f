"""Knows which results alert rules wait for, so that other results cost one dictionary lookup."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from collector.alerts.storage import watch as table
from collector.alerts.storage.watch import Waited
from collector.platform.storage.db import Db
from shared.results import Status

_NEVER = 2**31


@dataclass(frozen=True, slots=True)
class WatchedMonitor:
    """A monitor whose failed checks matter, as do slow ones, and those with one of *codes*."""

    team_id: int
    id: UUID
    timeout_s: int
    slower_than_ms: int
    codes: frozenset[int]

    def matters(self, status: int, ms: int, code: int) -> bool:
        return status == Status.DOWN or ms > self.slower_than_ms or code in self.codes


class Watch:
    """One per collector: learns a moment after a rule was made which results it needs."""

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


def merged(waited: Sequence[Waited]) -> dict[int, WatchedMonitor]:
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
