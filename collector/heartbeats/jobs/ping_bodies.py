"""Lets go of what pings brought, with time or with its monitor, a little at a time."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import uuid4

import structlog

from collector.heartbeats.storage import ping_bodies
from collector.history.storage import retention
from collector.platform.storage import leases
from collector.platform.storage.db import Db

log = structlog.get_logger()

_LEASE: Final = "ping bodies"
_LEASE_FOR: Final = timedelta(minutes=10)
_ROWS: Final = 2_000
_MONITORS: Final = 200


class PingBodies:
    """One per collector; the one that holds the lease does the work. *keep*: for how long they stay."""

    def __init__(self, db: Db, *, keep: timedelta, now: Callable[[], datetime]) -> None:
        self._db = db
        self._keep = keep
        self._now = now
        self._id = uuid4()
        self._after = 0

    async def turn(self) -> bool:
        """Some that are too old, or else some of monitors that are gone; is there more?"""
        now = self._now()
        async with self._db.transaction() as tx:
            if await leases.take(tx, _LEASE, self._id, _LEASE_FOR) is None:
                self._after = 0
                return False
            forgotten = await retention.rows(tx, "ping_bodies", now - self._keep, _ROWS)
            more = forgotten == _ROWS
            if not more:
                gone, reached = await retention.gone(tx, self._after, _MONITORS, "ping_bodies")
                of_gone = await ping_bodies.forget_of(tx, gone, _ROWS) if gone else 0
                forgotten += of_gone
                if of_gone < _ROWS:
                    self._after = reached or 0
                more = of_gone == _ROWS or reached is not None
        if forgotten:
            log.info("bodies of pings deleted", rows=forgotten)
        return more
