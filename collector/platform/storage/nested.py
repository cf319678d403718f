"""Runs several actions, each written as a transaction, in one that commits all or nothing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import asyncpg

from collector.platform.storage.db import Db, Tx

_PATIENCE = "SET LOCAL lock_timeout = '2s'"


class Crossed(Exception):
    """Another transaction holds a lock: waiting on while holding ours would block others."""


@asynccontextmanager
async def impatient(tx: Tx) -> AsyncIterator[Db]:
    """As `within`, for a transaction with many locks. Raises Crossed rather than wait long."""
    await tx.execute(_PATIENCE)
    try:
        yield within(tx)
    except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError) as error:
        raise Crossed from error


def within(tx: Tx) -> Db:
    """A database whose transactions are all parts of *tx*; for a single task without concurrency."""
    return Db(cast("Any", _Held(tx)), nested=True)


class _Held:
    """A pool of only the connection of the open transaction."""

    __slots__ = ("_tx",)

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    async def acquire(self, *, timeout: float) -> Tx:
        del timeout
        return self._tx

    async def release(self, connection: Tx) -> None:
        """Do nothing: whoever began the transaction releases it."""

    async def expire_connections(self) -> None:
        """Do nothing: whoever began the transaction does that."""
