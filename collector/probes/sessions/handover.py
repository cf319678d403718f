"""Passes on the assignments that a session's probe has released."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.service.assignments import hand_over
from collector.probes.sessions.queue import SlimQueue

_MOST = 64


class Handing:
    """Reassigns released assignments once their last results are committed: only those still count."""

    def __init__(self, db: Db, signals: Signals, probe_id: UUID, now: Callable[[], datetime]) -> None:
        self._db = db
        self._signals = signals
        self._probe_id = probe_id
        self._now = now
        self._released = SlimQueue[tuple[Sequence[int], asyncio.Event]](_MOST)

    async def take(self, numbers: Sequence[int], committed: asyncio.Event) -> None:
        """Hand over these released assignments once *committed* is set."""
        await self._released.put((numbers, committed))

    async def run(self) -> None:
        while True:
            numbers, committed = await self._released.get()
            await committed.wait()
            async with self._db.transaction() as tx:
                await hand_over(tx, self._probe_id, numbers, self._now())
            self._signals.ring()
