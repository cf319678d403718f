"""Deletes expired rows: a little at a time, at most a day of each table a round."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Literal
from uuid import uuid4

import structlog

from collector.heartbeats.storage import ping_bodies
from collector.history.storage import deleted, partitions, rollups
from collector.http.storage import KEPT_FOR as KEEP_ANSWERS
from collector.ops.storage import retention
from collector.platform.storage import leases
from collector.platform.storage.db import Db, Tx
from shared.clock import UtcClock

log = structlog.get_logger()

_LEASE = "retention"
_LEASE_FOR = timedelta(minutes=10)
_ROWS = 2_000
_MONITORS = 200
# Results are kept packed, all else as rows, which would fill the disk.
_KEEP_ROWS = timedelta(days=90)
# Not configurable: whoever sets it might be the one with something to hide.
_KEEP_AUDIT = timedelta(days=1095)
# The record of who was notified is kept this long, whatever rule caused it.
KEEP_ALERTS = timedelta(days=90)
# Longer than any deadline or chart looks back.
_KEEP_TIMES = timedelta(days=400)
# Collectors record the use of an error text twice a day; a partially expired day is kept.
_NAMED = timedelta(days=2)
_OF_ROWS = (
    "outages", "cadences", "refused", "gaps", "chain_logs", "probes", "failures", "deliveries", "events",
    "alerts", "audit", "agent_metrics", "listening", "maintenance", "errors", "ping_bodies", "answers",
)  # fmt: skip

Step = Callable[[Tx, datetime], Awaitable[bool]]


class Retention:
    """Deletes old rows, one step per turn; one per collector, the holder of the lease works."""

    def __init__(self, db: Db, *, keep: timedelta, keep_rollups: timedelta, now: UtcClock) -> None:
        """*keep*: retention of results, and up to 90 days of rows such as events and deliveries.

        *keep_rollups*: retention of rollups and outages.
        """
        self._db = db
        self._keep_results = max(keep, partitions.BACK + timedelta(days=1))
        self._keep = min(self._keep_results, _KEEP_ROWS)
        self._keep_rollups = max(keep_rollups, self._keep_results)
        self._kept = {
            **dict.fromkeys(("outages", "agent_metrics"), self._keep_rollups),
            **dict.fromkeys(("listening", "maintenance"), _KEEP_TIMES),
            "alerts": max(keep, KEEP_ALERTS),
            "answers": KEEP_ANSWERS,
            "audit": _KEEP_AUDIT,
            "ping_bodies": min(keep, _KEEP_ROWS),
        }
        self._now = now
        self._id = uuid4()
        self._after = 0
        self._steps: list[Step] = []

    async def turn(self) -> bool:
        """Run the next step; after the last one, a new round begins."""
        now = self._now()
        if not self._steps:
            self._steps = [
                self._forget("rollups_day"),
                self._forget("packed_results"),
                self._forget_bodies,
                self._numbers,
                *map(self._rows, _OF_ROWS),
            ]
        async with self._db.transaction() as tx:
            if await leases.take(tx, _LEASE, self._id, _LEASE_FOR) is None:
                self._steps, self._after = [], 0
                return False
            more = await self._steps[0](tx, now)
        if not more:
            self._steps, self._after = self._steps[1:], 0
        return bool(self._steps)

    def _forget(self, table: Literal["rollups_day", "packed_results"]) -> Step:
        """A step that deletes the history of deleted monitors, a few in each turn; *table* knows them."""

        async def forget(tx: Tx, _: datetime) -> bool:
            gone, reached = await retention.gone(tx, self._after, _MONITORS, table)
            if len(gone) > deleted.AT_ONCE:
                gone = gone[: deleted.AT_ONCE]
                reached = gone[-1]
            others = await retention.gone_otherwise(tx, deleted.AT_ONCE) if self._after == 0 else []
            if gone or others:
                await deleted.forget(tx, [*gone, *others])
                log.info("history of deleted monitors removed", monitors=len({*gone, *others}))
            self._after = reached or 0
            return reached is not None

        return forget

    async def _forget_bodies(self, tx: Tx, _: datetime) -> bool:
        """Delete ping bodies of deleted monitors."""
        gone, reached = await retention.gone(tx, self._after, _MONITORS, "ping_bodies")
        deleted = await ping_bodies.forget_of(tx, gone, _ROWS) if gone else 0
        if deleted:
            log.info("old rows deleted", what="ping_bodies of deleted monitors", rows=deleted)
        if deleted == _ROWS:
            return True
        self._after = reached or 0
        return reached is not None

    async def _numbers(self, tx: Tx, now: datetime) -> bool:
        before = (now - self._keep_rollups).replace(hour=0, minute=0, second=0, microsecond=0)
        monitors = await rollups.monitors(tx, self._after, _MONITORS)
        await retention.rollups(tx, monitors, before)
        self._after = monitors[-1] if monitors else 0
        return len(monitors) == _MONITORS

    def _rows(self, what: str) -> Step:
        """A step that deletes old rows of *what*, one day at a time."""

        async def rows(tx: Tx, now: datetime) -> bool:
            deleted = await retention.rows(tx, what, await self._before(tx, what, now), _ROWS)
            if deleted:
                log.info("old rows deleted", what=what, rows=deleted)
            return deleted == _ROWS

        return rows

    async def _before(self, tx: Tx, what: str, now: datetime) -> datetime:
        """The time before which rows of *what* are deleted."""
        raw = now - self._keep_results
        if what == "errors":
            # Results reference them as long as their partition exists.
            return min(raw, await partitions.first(tx) or raw) - _NAMED
        return raw - rollups.LONGEST if what == "cadences" else now - self._kept.get(what, self._keep)
