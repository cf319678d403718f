"""Creates the daily partitions of results ahead of time, and drops days that are packed or expired."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import uuid4

import asyncpg
import structlog

from collector.history.storage import packing, partitions, rollups
from collector.platform import metrics
from collector.platform.clock import AgreedClock
from collector.platform.storage import leases
from collector.platform.storage.db import Db, Tx
from shared.clock import iso

log = structlog.get_logger()

_LEASE = "days of results"
_LEASE_FOR = timedelta(minutes=10)
_DAY = timedelta(days=1)
# Rows of packed results that one transaction deletes.
_PACKED = 20_000


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
        """Create missing days, and drop at most one of each form; return whether more packed ones expired.

        Raises Unavailable while the clocks disagree.
        """
        await self.prepare()
        now = self._clock.agreed()
        with _giving_way():
            if emptied := await self._drop_empty(now):
                log.info("partition of packed results dropped", day=emptied)
        before = await self._expired(now)
        if before is None:
            return False
        with _giving_way():
            if dropped := await self._drop(before):
                log.info("partition of results dropped", day=dropped)
        return await self._drop_packed(before)

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

    async def _drop_empty(self, now: datetime) -> str | None:
        """Drop the oldest day whose results are all packed, if none can arrive any more; return its name."""
        async with self._db.transaction() as tx:
            packed = {since.date() for since in await packing.days(tx)}
            old = await partitions.before(tx, (now - partitions.BACK - _DAY).date())
            done = [name for name in old if partitions.day_of(name) in packed]
            if not done or not await self._mine(tx) or not await partitions.drop_if_empty(tx, done[0]):
                return None
        return done[0]

    async def _expired(self, now: datetime) -> datetime | None:
        """Return the start of the first day to keep, if days before it are there that nothing needs."""
        async with self._db.connection() as connection:
            needed = await rollups.needed_since(connection)
            if needed is None:
                return None
            before = partitions.start(min(now - self._keep, needed).date())
            first = await partitions.first(connection)
            if first is None or first >= before:
                return None
            lately = await partitions.any_between(connection, now - _DAY, now + _DAY)
        return None if self._doubts(now, lately) else before

    async def _drop(self, before: datetime) -> str | None:
        """Drop the oldest partition of a day before that one; return its name."""
        async with self._db.transaction() as tx:
            old = await partitions.before(tx, before.date())
            if not old or not await self._mine(tx):
                return None
            await partitions.drop(tx, old[0])
        return old[0]

    async def _drop_packed(self, before: datetime) -> bool:
        """Delete packed results of the oldest day before that one; return whether more remain."""
        async with self._db.transaction() as tx:
            old = [day for day in await packing.days(tx) if day < before]
            if not old or await leases.take(tx, _LEASE, self._id, _LEASE_FOR) is None:
                return False
            over = await packing.drop(tx, old[0], _PACKED)
        if over:
            log.info("packed results dropped", day=iso(old[0]))
        return not over or len(old) > 1

    def _doubts(self, now: datetime, lately: bool) -> bool:
        """Without a result of the last day the clock may be wrong: warn once, and drop nothing."""
        if not lately and not self._in_doubt:
            log.warning("no result of the last day: no day of results is dropped", now=iso(now))
        self._in_doubt = not lately
        return self._in_doubt

    async def _mine(self, tx: Tx) -> bool:
        await partitions.give_way(tx)
        return await leases.take(tx, _LEASE, self._id, _LEASE_FOR) is not None
