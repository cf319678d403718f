"""Creates the daily partitions of results ahead of time, and drops expired ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import uuid4

import asyncpg
import structlog

from collector.history.storage import partitions, rollups
from collector.platform import metrics
from collector.platform.clock import AgreedClock
from collector.platform.storage import leases
from collector.platform.storage.db import Db, Tx
from shared.clock import iso

log = structlog.get_logger()

_LEASE = "days of results"
_LEASE_FOR = timedelta(minutes=10)
_DAY = timedelta(days=1)


@contextmanager
def _giving_way() -> Iterator[None]:
    """Postpone work on a partition that is in use for long."""
    try:
        yield
    except asyncpg.LockNotAvailableError:
        log.info("partitions of results are in use; will retry")


class DayPartitions:
    """One per collector; the holder of the lease does the work."""

    def __init__(self, db: Db, *, keep: timedelta, clock: AgreedClock) -> None:
        """*keep*: for how long results are kept, at least as long as they may still arrive."""
        self._db = db
        self._keep = max(keep, partitions.BACK + _DAY)
        self._clock = clock
        self._id = uuid4()
        self._in_doubt = False

    async def turn(self) -> bool:
        """Create missing days, and drop at most one. Raises Unavailable while the clocks disagree."""
        await self.prepare()
        with _giving_way():
            if dropped := await self._drop(self._clock.agreed()):
                log.info("partition of results dropped", day=dropped)
        return False

    async def prepare(self) -> None:
        """Create the coming days, which is safe at any time."""
        with _giving_way():
            if made := await self._make(self._clock.now()):
                log.info("partitions of results created", days=made)

    async def _make(self, now: datetime) -> list[str]:
        async with self._db.transaction() as tx:
            if not await self._mine(tx):
                return []
            made = await partitions.make(tx, now.date())
            strays = await partitions.strays(tx)
        if strays:
            log.error("results without a partition", count=strays)
        metrics.results_astray.set(strays)
        return made

    async def _drop(self, now: datetime) -> str | None:
        """Drop the oldest day, if it has expired and the rollups do not need it; return its name."""
        async with self._db.connection() as connection:
            needed = await rollups.needed_since(connection)
            if needed is None:
                return None
            old = await partitions.before(connection, min(now - self._keep, needed).date())
            if not old or self._doubts(now, await partitions.any_between(connection, now - _DAY, now + _DAY)):
                return None
        async with self._db.transaction() as tx:
            if not await self._mine(tx):
                return None
            await partitions.drop(tx, old[0])
        return old[0]

    def _doubts(self, now: datetime, lately: bool) -> bool:
        """Without a result of the last day the clock may be wrong: warn once, and drop nothing."""
        if not lately and not self._in_doubt:
            log.warning("no result of the last day: no day of results is dropped", now=iso(now))
        self._in_doubt = not lately
        return self._in_doubt

    async def _mine(self, tx: Tx) -> bool:
        await partitions.give_way(tx)
        return await leases.take(tx, _LEASE, self._id, _LEASE_FOR) is not None
