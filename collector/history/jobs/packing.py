"""Packs the results of days that are over, some monitors in each transaction."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from uuid import uuid4

import asyncpg
import structlog

from collector.history.storage import packing, partitions
from collector.history.storage.packing import UnpackedMonitor
from collector.platform.clock import AgreedClock
from collector.platform.storage import leases
from collector.platform.storage.db import Db
from shared.clock import iso

log = structlog.get_logger()

_LEASE = "packing"
_LEASE_FOR = timedelta(minutes=5)
_DAY = timedelta(days=1)
# Days are kept as rows for this long after their end.
ROWS_FOR = timedelta(days=2)
# What one transaction takes, about a second of work: of so many monitors those with so many results.
_MONITORS = 100
_RESULTS = 200_000


class Packing:
    """One per collector; the holder of the lease works. What was not committed is done again."""

    def __init__(self, db: Db, *, clock: AgreedClock) -> None:
        self._db = db
        self._clock = clock
        self._id = uuid4()
        # The day that is being packed, and its last monitor that was.
        self._place: tuple[datetime, int] | None = None

    async def turn(self) -> bool:
        """Pack the results of some monitors of one day; return whether there may be more.

        Raises Unavailable while the clocks disagree.
        """
        now = self._clock.agreed()
        days = await self._due(now)
        if not days:
            self._place = None
            return False
        day, after = self._place or (days[0], 0)
        try:
            last = await self._pack(day, after)
        except asyncpg.SerializationError:
            log.info("results were deleted while they were packed; will retry", day=iso(day))
            return True
        following = [each for each in days if each > day]
        if last is not None:
            self._place = day, last
        else:
            self._place = (following[0], 0) if following else None
        return self._place is not None

    async def _due(self, now: datetime) -> list[datetime]:
        """Return the days that are to be packed, the oldest first; none while another works."""
        # In a transaction of its own: those that wait for a lease must not wait for a day.
        async with self._db.transaction() as tx:
            if await leases.take(tx, _LEASE, self._id, _LEASE_FOR) is None:
                return []
            starts = [partitions.start(day) for day in await partitions.days(tx)]
        return [start for start in starts if start + _DAY + ROWS_FOR <= now]

    async def _pack(self, day: datetime, after: int) -> int | None:
        """Pack the next monitors after that one; return the last of them, None if none is left."""
        async with self._db.transaction() as tx:
            await packing.begin(tx)
            some = _few(await packing.waiting(tx, day, after, _MONITORS))
            if not some:
                return None
            count = await packing.pack(tx, some, day)
        log.debug("results packed", day=iso(day), monitors=len(some), results=count)
        return some[-1].monitor


def _few(monitors: Sequence[UnpackedMonitor]) -> Sequence[UnpackedMonitor]:
    """Return the first ones, at least one, that have a transaction's number of results."""
    totals = accumulate(each.total for each in monitors)
    return monitors[: 1 + sum(total < _RESULTS for total in totals)]
