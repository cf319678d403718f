"""Forgets answers that no Idempotency-Key repeats any more, a little at a time."""

from collections.abc import Callable
from datetime import datetime

from collector.http import storage
from collector.platform.storage.db import Db

_ROWS = 2_000


class Idempotency:
    """One per collector: who finds rows that another one deletes takes others."""

    def __init__(self, db: Db, *, now: Callable[[], datetime]) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        """Forget some; is there more to forget?"""
        async with self._db.transaction() as tx:
            return await storage.sweep(tx, self._now() - storage.KEPT_FOR, _ROWS) == _ROWS
