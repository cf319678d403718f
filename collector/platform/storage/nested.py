"""The unit of work: several actions, each written as a transaction, in one that commits all or nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from collector.platform.storage.db import Db, Tx

_PATIENCE = "SET LOCAL lock_timeout = '2s'"


class Crossed(Exception):
    """Another transaction holds a lock: waiting on while holding ours would block others."""


class UnitOfWork(Db):
    """An open transaction as a database: what begins in it as a transaction is a savepoint of *tx*.

    All of it is committed together, or nothing. It serves one task without concurrency.
    """

    def __init__(self, tx: Tx) -> None:
        super().__init__(_OpenTransaction(tx), nested=True)


@asynccontextmanager
async def impatient(tx: Tx) -> AsyncIterator[UnitOfWork]:
    """Yield a unit of work for a transaction with many locks. Raises Crossed rather than wait long."""
    await tx.execute(_PATIENCE)
    try:
        yield UnitOfWork(tx)
    except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError) as error:
        raise Crossed from error


class _OpenTransaction:
    """The one connection of a transaction, which whoever began it releases and closes."""

    __slots__ = ("_tx",)

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    async def acquire(self, *, timeout: float) -> Tx:
        del timeout
        return self._tx

    async def release(self, connection: Tx) -> None: ...

    async def expire_connections(self) -> None: ...

    async def close(self) -> None: ...

    def terminate(self) -> None: ...
