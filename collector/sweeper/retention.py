"""Deletes what is kept no longer, a little at a time."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from uuid import uuid4

import structlog

from collector.storage import leases, partitions, retention, rollups, web3_news
from collector.storage.db import Db, Tx

log = structlog.get_logger()

_LEASE = "retention"
_LEASE_FOR = timedelta(minutes=10)
_ROWS = 2_000
_MONITORS = 200
# Nobody can set it lower: whoever has something to hide may be who sets it.
_KEEP_AUDIT = timedelta(days=1095)

Step = Callable[[Tx, datetime], Awaitable[bool]]


class Retention:
    """One per collector; the one that holds the lease does the work, one step in each turn."""

    def __init__(
        self, db: Db, *, keep: timedelta, keep_rollups: timedelta, now: Callable[[], datetime]
    ) -> None:
        """*keep*: for how long results, events and deliveries stay; *keep_rollups*: numbers and outages."""
        self._db = db
        self._keep = max(keep, partitions.BACK + timedelta(days=1))
        self._keep_rollups = max(keep_rollups, self._keep)
        self._now = now
        self._id = uuid4()
        self._after = 0
        self._steps: list[Step] = []

    async def turn(self) -> bool:
        """Take the next step; a round of them begins when the last one is done."""
        now = self._now()
        self._steps = self._steps or [self._forget, self._numbers, self._rows]
        async with self._db.transaction() as tx:
            if await leases.take(tx, _LEASE, self._id, _LEASE_FOR) is None:
                self._steps, self._after = [], 0
                return False
            more = await self._steps[0](tx, now)
        if not more:
            self._steps, self._after = self._steps[1:], 0
        return bool(self._steps)

    async def _forget(self, tx: Tx, _: datetime) -> bool:
        """History of monitors that are gone."""
        gone, reached = await retention.gone(tx, self._after, _MONITORS)
        others = await retention.gone_otherwise(tx, _MONITORS) if self._after == 0 else []
        if gone or others:
            await retention.forget(tx, [*gone, *others])
            log.info("history of deleted monitors", monitors=len({*gone, *others}))
        self._after = reached or 0
        return reached is not None

    async def _numbers(self, tx: Tx, now: datetime) -> bool:
        before = (now - self._keep_rollups).replace(hour=0, minute=0, second=0, microsecond=0)
        monitors = await rollups.monitors(tx, self._after, _MONITORS)
        await retention.rollups(tx, monitors, before)
        self._after = monitors[-1] if monitors else 0
        return len(monitors) == _MONITORS

    async def _rows(self, tx: Tx, now: datetime) -> bool:
        """Everything of which single rows go; is there more of any?"""
        raw = now - self._keep
        deleted = {
            "outages": await retention.outages(tx, now - self._keep_rollups, _ROWS),
            "cadences": await retention.cadences(tx, raw - rollups.LONGEST, _ROWS),
            "refused": await retention.refused(tx, raw, _ROWS),
            "gaps": await retention.gaps(tx, raw, _ROWS),
            "chain_logs": await web3_news.forget(tx, raw, _ROWS),
            "probes": await retention.probes(tx, raw, _ROWS),
            "failures": await retention.failures(tx, raw, _ROWS),
            "deliveries": await retention.deliveries(tx, raw, _ROWS),
            "events": await retention.events(tx, raw, _ROWS),
            "audit": await retention.audit(tx, now - _KEEP_AUDIT, _ROWS),
        }
        if some := {name: count for name, count in deleted.items() if count}:
            log.info("old rows deleted", **some)
        return _ROWS in deleted.values()
