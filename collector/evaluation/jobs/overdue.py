"""Finds monitors whose next ping or sample is overdue."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Final

from collector.platform.storage.db import Db, Tx

AT_ONCE: Final = 500

# Called after the commit.
Settle = Callable[[], None]


class OverdueSweeper(ABC):
    """Any number may run. *since*: see `ClockGuard`."""

    def __init__(self, db: Db, *, since: Callable[[], datetime | None], now: Callable[[], datetime]) -> None:
        self._db = db
        self._since = since
        self._now = now

    async def turn(self) -> bool:
        """Sweep some; return whether there are more. A clock that was just set makes nothing overdue."""
        now, since = self._now(), self._since()
        if since is None:
            return False
        async with self._db.transaction() as tx:
            count, settle = await self._sweep(tx, since, now)
        if settle is not None:
            settle()
        return count == AT_ONCE

    @abstractmethod
    async def _sweep(self, tx: Tx, since: datetime, now: datetime) -> tuple[int, Settle | None]:
        """Process up to AT_ONCE that are due; return how many there were."""
