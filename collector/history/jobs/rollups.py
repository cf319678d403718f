"""Rolls up each finished hour in order, and again those that late results changed."""

import time
from datetime import datetime, timedelta
from uuid import uuid4

import asyncpg
import structlog

from collector.history.storage import partitions, rollups
from collector.history.storage.rollups import HOUR
from collector.platform import metrics
from collector.platform.clock import AgreedClock
from collector.platform.storage import leases
from collector.platform.storage.db import Db, Tx
from shared.clock import iso

log = structlog.get_logger()

_LEASE = "rollups"
_LEASE_FOR = timedelta(minutes=2)
# A result that began in an hour has arrived by then, or marks the hour.
_GRACE = timedelta(minutes=2)
_MOST = 2_000
_FAST_S, _SLOW_S = 0.5, 2.0


class Rollups:
    """One per collector; the holder of the lease does the work."""

    def __init__(self, db: Db, *, clock: AgreedClock, size: int = 200) -> None:
        """*size*: hours of monitors in one transaction, at first; later as many as take about a second."""
        self._db = db
        self._clock = clock
        self._id = uuid4()
        self._size = size
        # The lease's epoch, the hour, and the last monitor done.
        self._place: tuple[int, datetime, int] | None = None

    async def turn(self) -> bool:
        """Do a bounded piece of work; return whether there is more."""
        now = self._clock.agreed()
        start = time.monotonic()
        try:
            mended = await self._mend(now)
            rolled = await self._roll(now)
        except (TimeoutError, asyncpg.QueryCanceledError):
            self._size = max(1, self._size // 4)
            log.warning("rollups are slow; reducing their batch size", size=self._size)
            return True
        if mended or rolled:
            self._pace(time.monotonic() - start)
        return mended or rolled

    def _pace(self, took_s: float) -> None:
        if took_s > _SLOW_S:
            self._size = max(1, self._size // 2)
        elif took_s < _FAST_S:
            self._size = min(_MOST, self._size * 2)

    async def _mend(self, now: datetime) -> bool:
        """Recompute some marked hours; not during an unfinished hour, which depends on the one before."""
        async with self._db.transaction() as tx:
            epoch = await leases.take(tx, _LEASE, self._id, _LEASE_FOR)
            until = await rollups.until(tx)
            if epoch is None or until is None or self._after(epoch, until):
                return False
            since = await partitions.whole_since(tx, now.date())
            marked = await rollups.take_marks(tx, since, until, self._size)
            if marked:
                await rollups.make(tx, marked)
        return bool(marked)

    async def _roll(self, now: datetime) -> bool:
        """Compute the next hour of some monitors, or a few hours if those are all monitors."""
        async with self._db.transaction() as tx:
            epoch = await leases.take(tx, _LEASE, self._id, _LEASE_FOR)
            if epoch is None:
                metrics.rollups_behind.set(0)
                return False
            until = await _until(tx, now)
            metrics.rollups_behind.set(max(0.0, (now - until).total_seconds()))
            over = (now - _GRACE - until) // HOUR
            if over < 1:
                return False
            after = self._after(epoch, until)
            monitors = await rollups.monitors(tx, after, self._size)
            whole = len(monitors) < self._size
            count = min(over, 24, max(1, self._size // max(1, len(monitors)))) if whole and not after else 1
            hours = [until + n * HOUR for n in range(count)]
            await rollups.make(tx, [(monitor, at) for monitor in monitors for at in hours])
            if whole:
                await rollups.done(tx, hours[-1] + HOUR)
        self._place = None if whole else (epoch, until, monitors[-1])
        return True

    def _after(self, epoch: int, until: datetime) -> int:
        """Return the last monitor whose hour at *until* is done; 0 at the start of the hour."""
        place = self._place
        return place[2] if place is not None and place[:2] == (epoch, until) else 0


async def _until(tx: Tx, now: datetime) -> datetime:
    """Return the start of the next hour to compute. Hours computed by a fast clock are computed again."""
    until = await rollups.until(tx) or await _begin(tx, now)
    if until <= now:
        return until
    hour = now.replace(minute=0, second=0, microsecond=0)
    log.warning("hours were rolled up ahead of time; will recompute them", since=iso(hour), until=iso(until))
    await rollups.done(tx, hour)
    return hour


async def _begin(tx: Tx, now: datetime) -> datetime:
    """Begin at the first results, or now."""
    first = await partitions.oldest(tx) or now.replace(minute=0, second=0, microsecond=0)
    await rollups.done(tx, first)
    return first
