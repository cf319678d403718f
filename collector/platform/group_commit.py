"""Group commit: work that arrived since the last transaction goes into the next one together."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import asyncpg
import structlog

from collector.platform import metrics
from collector.platform.data_errors import DATA_ERRORS
from shared.errors import TocsinError
from shared.held import demand_none

log = structlog.get_logger()

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)

_TRIES_AFTER_COLLISION = 3
# An idle turn ends after this time, which shows that turns still run.
REST_S = 30.0
_COLLISIONS = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError)

# Commits items in one transaction. Returns for each, in order, its result, or the error that it alone gets.
Commit = Callable[[Sequence[T]], Awaitable[Sequence[R | Exception]]]


class CommitAgain(TocsinError):
    """As an item's error: the item was left out, and must be tried again in the next group."""


class BatchSelector(Protocol[T_contra]):
    """Chooses which of the waiting items are committed together."""

    def choose(self, waiting: Iterable[T_contra]) -> Sequence[int]:
        """Return ascending positions in *waiting*, at least one; the other items keep their order."""


@dataclass(frozen=True, slots=True)
class FirstCome(BatchSelector[object]):
    """Chooses the first *most* items."""

    most: int

    def choose(self, waiting: Iterable[object]) -> Sequence[int]:
        return [position for position, _ in zip(range(self.most), waiting, strict=False)]


class GroupCommit(Generic[T, R]):
    """Collects items, and commits them in groups that *selection* chooses."""

    def __init__(self, commit: Commit[T, R], selection: BatchSelector[T]) -> None:
        self._commit = commit
        self._selection = selection
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
        """Commit a group; if no item waits, wait for a while."""
        if not await self._wait():
            return True
        group = self._take()
        try:
            await self._carry_out(group)
        except BaseException as error:
            for _, done in group:
                _fail(done, error if isinstance(error, Exception) else TocsinError("this collector stops"))
            raise
        return True

    async def _wait(self) -> bool:
        """Wait up to REST_S for an item; return whether there is one."""
        if not self._filled.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(REST_S):
                    await self._filled.wait()
        return self._filled.is_set()

    def _take(self) -> "list[tuple[T, asyncio.Future[R]]]":
        chosen = self._selection.choose(item for item, _ in self._queue)
        head = [self._queue.popleft() for _ in range(chosen[-1] + 1)]
        group = [head[position] for position in chosen]
        if len(group) < len(head):
            left = set(range(len(head))).difference(chosen)
            self._queue.extendleft(head[position] for position in sorted(left, reverse=True))
        if not self._queue:
            self._filled.clear()
        return group

    async def _carry_out(self, group: "Sequence[tuple[T, asyncio.Future[R]]]") -> None:
        """Commit the group together, or item by item after a bad item, so that only that one fails."""
        try:
            answers = await self._patiently([item for item, _ in group])
        except DATA_ERRORS as error:
            if len(group) == 1:
                log.exception("item failed to commit")
                _fail(group[0][1], error)
                return
            for member in group:
                await self._carry_out([member])
            return
        self._settle(group, answers)

    async def _patiently(self, items: Sequence[T]) -> Sequence[R | Exception]:
        """Commit, retrying at once after a collision with another transaction."""
        for _ in range(_TRIES_AFTER_COLLISION):
            try:
                return await self._commit(items)
            except _COLLISIONS:
                metrics.collisions.inc()
        return await self._commit(items)

    def _settle(
        self, group: "Sequence[tuple[T, asyncio.Future[R]]]", answers: Sequence[R | Exception]
    ) -> None:
        """Pass on the answers; items to try again go back to the head of the queue."""
        again = []
        for (item, done), answer in zip(group, answers, strict=True):
            if done.done():
                continue  # nobody waits any more
            if isinstance(answer, CommitAgain):
                again.append((item, done))
            elif isinstance(answer, Exception):
                _fail(done, answer)
            else:
                done.set_result(answer)
        self._queue.extendleft(reversed(again))
        if again:
            self._filled.set()


def _fail(done: "asyncio.Future[R]", error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
        done.exception()
