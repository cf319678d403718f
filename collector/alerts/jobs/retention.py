"""Deletes alerts that have long been over, a little at a time."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from collector.history.storage import retention
from collector.platform.storage.db import Db

log = structlog.get_logger()

KEEP: Final = timedelta(days=90)
_ROWS: Final = 2_000


class AlertRetention:
    """Any number may run: each takes what nobody else is at."""

    __slots__ = ("_db", "_keep", "_now")

    def __init__(self, db: Db, *, keep: timedelta, now: Callable[[], datetime]) -> None:
        """*keep*: for how long results stay; what they did to people stays no shorter."""
        self._db = db
        self._keep = max(keep, KEEP)
        self._now = now

    async def turn(self) -> bool:
        """A bounded piece. Is there more?"""
        async with self._db.transaction() as tx:
            gone = await retention.rows(tx, "alerts", self._now() - self._keep, _ROWS)
        if gone:
            log.info("old alerts deleted", alerts=gone)
        return gone == _ROWS
