"""The database's clock, which all collectors share whatever their machines' clocks say."""

from datetime import datetime, timedelta
from typing import Final

import structlog

from collector.platform import metrics
from collector.platform.storage import database_time
from collector.platform.storage.db import Db
from shared.clock import EPOCH, MicrosecondClock, UtcClock, boot_us, utc_now
from shared.errors import Unavailable

log = structlog.get_logger()

# If the clocks differ by more, nothing irreversible is done.
MOST_APART: Final = timedelta(minutes=1)
_US: Final = timedelta(microseconds=1)


class DatabaseClock:
    """Follows the database's clock, one per collector; the boot clock counts between two turns.

    *wall* is the machine's own clock, only used for comparison; it may be set at any time.
    """

    def __init__(self, db: Db, *, wall: UtcClock = utc_now, boot_us: MicrosecondClock = boot_us) -> None:
        self._db = db
        self._wall = wall
        self._boot_us = boot_us
        self._offset_us: int | None = None
        self._apart = False

    def now(self) -> datetime:
        """The database's time; our own until the first answer."""
        if self._offset_us is None:
            return self._wall()
        return EPOCH + timedelta(microseconds=self._boot_us() + self._offset_us)

    def agreed(self) -> datetime:
        """As `now`, for irreversible actions. Raises Unavailable while the two clocks disagree."""
        now = self.now()
        if abs(self._wall() - now) > MOST_APART:
            raise Unavailable("our clock and the database's are more than a minute apart")
        return now

    async def turn(self) -> bool:
        """Ask once. The offset moves only as far as the answer requires: a slow answer is imprecise."""
        async with self._db.connection() as tx:
            asked_at = self._boot_us()
            found_us = (await database_time.read(tx) - EPOCH) // _US
            least, most = found_us - self._boot_us(), found_us - asked_at
        offset = (least + most) // 2 if self._offset_us is None else self._offset_us
        self._offset_us = min(max(offset, least), most)
        self._compare()
        return False

    def _compare(self) -> None:
        """Log once when the clocks disagree, and once when they agree again."""
        ahead = self._wall() - self.now()
        metrics.clock_ahead.set(ahead.total_seconds())
        apart = abs(ahead) > MOST_APART
        if apart and not self._apart:
            ahead_s = round(ahead.total_seconds(), 1)
            log.error("clocks disagree: deletion and rollups suspended", ahead_of_database_s=ahead_s)
        elif self._apart and not apart:
            log.info("clocks agree again")
        self._apart = apart
