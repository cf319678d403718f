"""Requests the editions that are due, and computes them one after another."""

from collector.platform.storage.db import Db
from collector.reports.service import editions
from shared.clock import UtcClock


class Editions:
    """Makes editions of reports. Any number may run: each edition is computed by one at a time."""

    def __init__(self, db: Db, *, now: UtcClock) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        """Return whether more is to be done."""
        now = self._now()
        more = await editions.schedule(self._db, now)
        worked = await editions.work(self._db, now)
        return more or worked
