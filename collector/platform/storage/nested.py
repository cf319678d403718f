"""Runs several actions, each written as a transaction, in one that commits all or nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import asyncpg

from collector.platform.storage.db import Db, Tx

_PATIENCE = "SET LOCAL lock_timeout = '2s'"


class Crossed(Exception):
    """Somebody else holds what is needed: to go on waiting while holding the rest would stop others."""


@asynccontextmanager
async def impatient(tx: Tx) -> AsyncIterator[Db]:
    """As `within`, for much that is held together. Raises Crossed rather than wait long."""
    await tx.execute(_PATIENCE)
    try:
        yield within(tx)
    except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError) as error:
        raise Crossed from error


def within(tx: Tx) -> Db:
    """A database whose every transaction is a part of *tx*, for one task that does one thing at a time."""
    return Db(cast("Any", _Held(tx)), nested=True)


class _Held:
    """A pool of the one connection that is in the transaction."""

    __slots__ = ("_tx",)

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    async def acquire(self, *, timeout: float) -> Tx:
        del timeout
        return self._tx

    async def release(self, connection: Tx) -> None:
        """It stays with whoever began the transaction."""

    async def expire_connections(self) -> None:
        """Left to whoever began the transaction."""
