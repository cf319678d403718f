"""Looks up the ownership proofs of custom domains."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from collector.platform.storage.db import Db
from collector.status_pages.service import domains
from collector.status_pages.service.domains import Prover
from collector.status_pages.storage import domains as table

_AT_ONCE = 5


class Domains:
    """Looks for domain proofs. Any number may run: each page is claimed by one of them."""

    def __init__(self, db: Db, prover: Prover, *, now: Callable[[], datetime]) -> None:
        self._db = db
        self._prover = prover
        self._now = now

    async def turn(self) -> bool:
        """Return whether more are waiting."""
        async with self._db.transaction() as tx:
            due = await table.due(tx, _AT_ONCE)
        await asyncio.gather(*(domains.check(self._db, self._prover, page, self._now()) for page in due))
        return len(due) == _AT_ONCE
