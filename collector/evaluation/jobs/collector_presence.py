"""Records that this collector runs: silence counts against a sender only in that time."""

from datetime import datetime, timedelta

from collector.evaluation.storage import collector_presence
from collector.platform.clock import TrustedClock
from collector.platform.storage.db import Db
from shared.ids import uuid7

# A collector silent for this long had lost its database, and so received nothing.
_LAPSE = timedelta(seconds=20)


class CollectorPresence:
    """One per collector, from its start on. Setting the clock begins a new row."""

    def __init__(self, db: Db, *, clock: TrustedClock) -> None:
        self._db = db
        self._clock = clock
        self._began: datetime | None = None
        self._from = self._kept_at = clock.now()
        self._collector = uuid7()

    async def turn(self) -> bool:
        since, now = self._clock.trusted_since(), self._clock.now()
        if since is None:
            return False
        if self._began != since or now - self._kept_at > _LAPSE:
            self._from = since if self._began != since else now
            self._began, self._collector = since, uuid7()
        async with self._db.transaction() as tx:
            await collector_presence.keep(tx, self._collector, self._from, now)
        self._kept_at = now
        return False
