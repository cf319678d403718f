"""Makes the days of results ahead of their time, and drops those that are too old."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import uuid4

import structlog

from collector import metrics
from collector.storage import leases, partitions
from collector.storage.db import Db

log = structlog.get_logger()

_LEASE = "days of results"
_LEASE_FOR = timedelta(minutes=10)


class Days:
    """One per collector; the one that holds the lease does the work."""

    def __init__(self, db: Db, *, keep: timedelta, now: Callable[[], datetime]) -> None:
        self._db = db
        self._keep = keep
        self._now = now
        self._id = uuid4()

    async def turn(self) -> bool:
        now = self._now()
        async with self._db.transaction() as tx:
            if await leases.take(tx, _LEASE, self._id, now, _LEASE_FOR) is None:
                return False
            made = await partitions.make(tx, now.date())
            dropped = await partitions.drop_before(tx, (now - self._keep).date())
            strays = await partitions.strays(tx)
        if made or dropped:
            log.info("days of results", made=made, dropped=dropped)
        if strays:
            log.error("results lie outside of every day", count=strays)
        metrics.results_astray.set(strays)
        return False
