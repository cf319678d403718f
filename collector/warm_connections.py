"""Runs the most frequent queries once on every connection, so that no request pays for planning."""

import asyncio
from uuid import UUID

from collector.accounts.storage import console_sessions, tokens
from collector.monitors.storage import lists, whole
from collector.monitors.storage.lists import MonitorFilter
from collector.platform.storage.db import Db, Tx
from shared.errors import Unavailable

_NOBODY = UUID(int=0)


async def warm(db: Db, connections: int) -> None:
    """Open and warm up to *connections* connections of the pool, as many as the server allows."""
    tried, all_tried = 0, asyncio.Event()

    def note() -> None:
        nonlocal tried
        tried += 1
        if tried == connections:
            all_tried.set()

    async def one() -> None:
        try:
            async with db.connection() as tx:
                note()
                await all_tried.wait()  # else the next task would get the same connection
                await _ask(tx)
        except Unavailable:
            note()

    await asyncio.gather(*(one() for _ in range(connections)))


async def _ask(tx: Tx) -> None:
    """Run the most frequent queries for a nonexistent team."""
    await tokens.with_hashes(tx, [b""])
    await console_sessions.with_hashes(tx, [b""])
    await lists.page(tx, 0, MonitorFilter(), 1, 0)
    await lists.total(tx, 0, MonitorFilter())
    await whole.get(tx, [(0, _NOBODY)])
