"""Finds monitors whose next ping or sample is overdue."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeVar

from collector.platform.clock import TrustedClock
from collector.platform.storage.db import Db, Tx

T_contra = TypeVar("T_contra", contravariant=True)

AT_ONCE: Final = 500

# Called after the commit.
Settle = Callable[[], None]


class OverdueReceiver(Protocol[T_contra]):
    """Stores failed results of monitors that are overdue, in the transaction that found them."""

    async def store_overdue(self, tx: Tx, found: Sequence[T_contra]) -> Settle: ...


class OverdueSweeper(ABC):
    """Any number may run."""

    def __init__(self, db: Db, *, clock: TrustedClock) -> None:
        self._db = db
        self._clock = clock

    async def turn(self) -> bool:
        """Sweep some; return whether there are more. A clock that was just set makes nothing overdue."""
        now, since = self._clock.now(), self._clock.trusted_since()
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
