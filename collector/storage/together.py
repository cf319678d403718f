"""Deeds that are a transaction each, all of them in one: it happens whole or not at all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import asyncpg

from collector.storage.db import Db, Tx

_PATIENCE = "SET LOCAL lock_timeout = '2s'"


class Crossed(Exception):
    """Somebody else holds what is needed: to go on waiting while holding the rest would stop others."""


async def together(tx: Tx) -> Db:
    """A database whose every transaction is a part of *tx*, which ends with Crossed rather than wait long.

    For one task that does one thing at a time.
    """
    await tx.execute(_PATIENCE)
    return cast("Db", _Parts(tx))


class _Parts:
    __slots__ = ("_tx",)

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Tx]:
        """Undone alone when its block raises. Raises Crossed, which is to undo all."""
        try:
            async with self._tx.transaction():
                yield self._tx
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError) as error:
            raise Crossed from error

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Tx]:
        yield self._tx
