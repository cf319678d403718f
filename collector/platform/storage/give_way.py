"""Transactions of the API that lock what the writer locks, and give way to it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from collector.platform.storage.db import Db, Tx
from shared.backoff import full_jitter
from shared.errors import Unavailable

T = TypeVar("T")

_TRIES = 15
_FIRST_S = 0.01
_MOST_S = 0.3
_YIELD = "SET LOCAL lock_timeout = '100ms'"
_WAIT = "SET LOCAL lock_timeout = '1s'"


async def giving_way(db: Db, work: Callable[[Tx], Awaitable[T]]) -> T:
    """Run *work* in a transaction, restarting it when rows are locked by others. Raises Unavailable.

    Within an open transaction it does not pause between attempts: others wait for the locks held there.
    """
    for _, wait in zip(range(_TRIES), full_jitter(_FIRST_S, _MOST_S), strict=False):
        try:
            async with db.transaction() as tx:
                await tx.execute(_YIELD)
                return await work(tx)
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            if not db.nested:
                await asyncio.sleep(wait)
    raise Unavailable("The monitor is busy; try again")


async def patiently(tx: Tx, lock: Awaitable[T]) -> T:
    """Take the first lock of a `giving_way` transaction with patience: nobody waits for it yet."""
    await tx.execute(_WAIT)
    taken = await lock
    await tx.execute(_YIELD)
    return taken
