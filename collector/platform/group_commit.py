"""Group commit: work that arrived since the last transaction goes into the next one together."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

import asyncpg
import structlog

from collector.platform import metrics
from collector.platform.data_errors import DATA_ERRORS
from shared.errors import TocsinError
from shared.held import demand_none

log = structlog.get_logger()

T = TypeVar("T")
R = TypeVar("R")

_TRIES_AFTER_COLLISION = 3
# An idle turn ends after this time, which shows that turns still run.
REST_S = 30.0
_COLLISIONS = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError)


class Gathering(Generic[T, R]):
    """Collects items for a group commit; *work* commits a group and returns one result per item, in order."""

    def __init__(self, work: Callable[[Sequence[T]], Awaitable[Sequence[R]]], *, most: int) -> None:
        self._work = work
        self._most = most
        self._queue: deque[tuple[T, asyncio.Future[R]]] = deque()
        self._filled = asyncio.Event()

    def add(self, item: T) -> "asyncio.Future[R]":
        """Queue an item; the future holds its result, or an error if it is not known to be committed."""
        demand_none("waiting for a group's commit")
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._queue.append((item, done))
        self._filled.set()
        return done

    async def turn(self) -> bool:
        """Commit the waiting items; wait for a while if there are none."""
        if not await filled(self._filled):
            return True
        group = [self._queue.popleft() for _ in range(min(self._most, len(self._queue)))]
        if not self._queue:
            self._filled.clear()
        try:
            await self._carry_out(group)
        except BaseException as error:
            for _, done in group:
                _fail(done, error if isinstance(error, Exception) else _stopped())
            raise
        return True

    async def _carry_out(self, group: "Sequence[tuple[T, asyncio.Future[R]]]") -> None:
        """Commit the group together, or item by item after a bad item, so that only that one fails."""
        try:
            answers = await self._with_patience([item for item, _ in group])
        except DATA_ERRORS as error:
            if len(group) == 1:
                log.exception("item failed to commit")
                _fail(group[0][1], error)
                return
            for one in group:
                await self._carry_out([one])
            return
        for (_, done), answer in zip(group, answers, strict=True):
            if not done.done():
                done.set_result(answer)

    async def _with_patience(self, items: Sequence[T]) -> Sequence[R]:
        """Commit, retrying at once after a conflict with another transaction."""
        for _ in range(_TRIES_AFTER_COLLISION):
            try:
                return await self._work(items)
            except _COLLISIONS:
                metrics.collisions.inc()
        return await self._work(items)


async def filled(queue: asyncio.Event) -> bool:
    """Wait up to REST_S for an item in the queue. Return whether there is one."""
    if not queue.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_S):
                await queue.wait()
    return queue.is_set()


def _fail(done: "asyncio.Future[R]", error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
        done.exception()


def _stopped() -> TocsinError:
    return TocsinError("this collector stops")
