"""Makes the days of results ahead of their time, and drops those that are too old."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import uuid4

import asyncpg
import structlog

from collector import metrics
from collector.storage import leases, partitions, rollups
from collector.storage.db import Db, Tx

log = structlog.get_logger()

_LEASE = "days of results"
_LEASE_FOR = timedelta(minutes=10)


class Days:
    """One per collector; the one that holds the lease does the work."""

    def __init__(self, db: Db, *, keep: timedelta, now: Callable[[], datetime]) -> None:
        """*keep*: for how long results are kept; those that may still arrive are kept in any case."""
        self._db = db
        self._keep = max(keep, partitions.BACK + timedelta(days=1))
        self._now = now
        self._id = uuid4()

    async def turn(self) -> bool:
        now = self._now()
        try:
            made = await self._make(now)
            dropped = await self._drop(now)
        except asyncpg.LockNotAvailableError:
            log.info("days of results are in use: later")
            return False
        if made or dropped:
            log.info("days of results", made=made, dropped=dropped)
        return False

    async def _make(self, now: datetime) -> list[str]:
        async with self._db.transaction() as tx:
            if not await self._mine(tx, now):
                return []
            made = await partitions.make(tx, now.date())
            strays = await partitions.strays(tx)
        if strays:
            log.error("results lie outside of every day", count=strays)
        metrics.results_astray.set(strays)
        return made

    async def _drop(self, now: datetime) -> list[str]:
        """Each in a transaction of its own, for which everybody waits. Days that the rollups need stay."""
        async with self._db.connection() as connection:
            needed = await rollups.needed_since(connection)
            if needed is None:
                return []
            old = await partitions.before(connection, min(now - self._keep, needed).date())
        for name in old:
            async with self._db.transaction() as tx:
                if await self._mine(tx, now):
                    await partitions.drop(tx, name)
        return old

    async def _mine(self, tx: Tx, now: datetime) -> bool:
        await partitions.give_way(tx)
        return await leases.take(tx, _LEASE, self._id, now, _LEASE_FOR) is not None
