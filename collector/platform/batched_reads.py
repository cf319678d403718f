"""Batches lookups by key for many concurrent callers, each with current rows."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import Context
from typing import Generic, TypeVar

from collector.platform.storage.db import Db, Tx
from shared.errors import Unavailable
from shared.held import demand_none

Key = TypeVar("Key")
Row = TypeVar("Row")

# A connection kept for longer might lead to a former primary.
_KEPT_S = 10.0
_PATIENCE_S = 10.0


class Lookups(Generic[Key, Row]):
    """Batches look-ups: keys requested during a query join the next one, on a kept connection.

    Nothing is cached: each row was read after it was requested.
    """

    def __init__(self, db: Db, ask: Callable[[Tx, list[Key]], Awaitable[Mapping[Key, Row]]]) -> None:
        self._db = db
        self._ask = ask
        self._waiting: list[tuple[Key, asyncio.Future[Row | None]]] = []
        self._asked: list[tuple[Key, asyncio.Future[Row | None]]] = []
        self._came = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def find(self, key: Key) -> Row | None:
        """The row with *key*, if there is one. Raises Unavailable."""
        if not self._db.nested:
            demand_none("looking up")
        answer: asyncio.Future[Row | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((key, answer))
        if self._task is None or self._task.done():
            # The task serves all callers, so it inherits no caller's context.
            self._task = asyncio.create_task(self._answer_all(), name="lookups", context=Context())
        self._came.set()
        return await answer

    async def close(self) -> None:
        """Return the connection; waiting callers get Unavailable."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _answer_all(self) -> None:
        try:
            while True:
                await self._came.wait()
                await self._answer_some()
        except asyncio.CancelledError:
            self._fail([*self._asked, *self._waiting], Unavailable("The service stops", retry_after=1))
            raise

    async def _answer_some(self) -> None:
        """Answer the waiting keys; those added after an attempt began are not affected by its failure."""
        self._take()
        try:
            async with self._db.quick.connection() as tx:
                await self._answer_a_while(tx)
        except Exception as error:  # noqa: BLE001 - passed to all waiters
            self._fail(self._asked, error)

    async def _answer_a_while(self, tx: Tx) -> None:
        kept_until = time.monotonic() + _KEPT_S
        while True:
            await self._answer(tx, self._asked)
            await self._came.wait()
            if tx.is_closed() or time.monotonic() >= kept_until:
                return
            self._take()

    def _take(self) -> None:
        self._came.clear()
        self._asked, self._waiting = self._waiting, []

    async def _answer(self, tx: Tx, asked: list[tuple[Key, "asyncio.Future[Row | None]"]]) -> None:
        async with asyncio.timeout(_PATIENCE_S):
            found = await self._ask(tx, list({key for key, _ in asked}))
        for key, answer in asked:
            if not answer.done():
                answer.set_result(found.get(key))

    def _fail(self, asked: "list[tuple[Key, asyncio.Future[Row | None]]]", error: Exception) -> None:
        for _, answer in asked:
            if not answer.done():
                answer.set_exception(error)
