"""Notices a database that is silent although its connections are open, and ends what waits for it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from types import TracebackType
from typing import Final
from weakref import WeakSet

import asyncpg
import structlog

from collector.platform.storage.connector import AWAY, Connection, connect, unavailable
from shared.clock import SecondClock
from shared.loop import forever

log = structlog.get_logger()

_EVERY_S: Final = 2.0
_PATIENCE_S: Final = 5.0
# The patience is taken in so many parts. One that took twice its time does not count: then this process
# itself stood still, and may not have read an answer.
_PARTS: Final = 10
# A statement that ended so long after the question shows that the server is alive, but slow.
_ALIVE_AFTER_S: Final = 2.0


class PoolActivity:
    """The connections of a pool, the blocks of code that hold one, and when such a block last ended well.

    *clock* is monotonic, in seconds.
    """

    def __init__(self, clock: SecondClock = time.monotonic) -> None:
        self.answered_at = float("-inf")
        self.interruptions = 0
        self.clock = clock
        self._connections: WeakSet[Connection] = WeakSet()
        self._limits: set[asyncio.Timeout] = set()

    def add(self, connection: Connection) -> None:
        self._connections.add(connection)

    def block(self) -> "_Block":
        """A block of code that holds a connection. After `interrupt` it raises Unavailable."""
        return _Block(self, self._limits)

    def interrupt(self) -> int:
        """Close all connections at once, and end the blocks that hold one; return how many were open."""
        self.interruptions += 1
        open_ = [connection for connection in self._connections if not connection.is_closed()]
        for connection in open_:
            connection.terminate()
        # Most blocks end by that. But the driver never wakes a COPY that waits to send more.
        now = asyncio.get_running_loop().time()
        for limit in [limit for limit in self._limits if not limit.expired()]:
            limit.reschedule(now)
        return len(open_)


class _Block:
    """See `PoolActivity.block`. A generator would cost each statement twice as much."""

    __slots__ = ("_activity", "_limit", "_limits")

    def __init__(self, activity: PoolActivity, limits: set[asyncio.Timeout]) -> None:
        self._activity = activity
        self._limits = limits
        self._limit = asyncio.timeout(None)

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()
        self._limits.add(self._limit)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limits.discard(self._limit)
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            raise unavailable() from error
        if isinstance(error, Exception) and self._limit.expired():
            raise unavailable() from error  # the driver's own, of a connection that was closed in its hands
        if error is None:
            self._activity.answered_at = self._activity.clock()


class LivenessWatch:
    """Asks the server a question over a connection of its own, and interrupts *pools* if it is silent.

    A server that answers other questions meanwhile is slow, not silent, and long statements go on.
    """

    def __init__(self, url: str, *pools: PoolActivity, patience_s: float = _PATIENCE_S) -> None:
        self._url = url
        self._pools = pools
        self._patience_s = patience_s
        self._connection: Connection | None = None
        self._silent = False

    async def turn(self) -> bool:
        """Ask once. A silence is logged when it begins and when it ends."""
        asked_at = time.monotonic()
        answered = await self._is_answered()
        if not answered:
            answered = any(pool.answered_at > asked_at + _ALIVE_AFTER_S for pool in self._pools)
        if not answered:
            closed = sum(pool.interrupt() for pool in self._pools)
            if not self._silent:
                log.error("database silent", seconds=self._patience_s, connections_closed=closed)
        elif self._silent:
            log.warning("database answers again")
        self._silent = not answered
        return False

    def close(self) -> None:
        """Drop the connection."""
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _is_answered(self) -> bool:
        """Return whether the server answers in time, be it by a refusal."""
        question = asyncio.create_task(self._ask())
        try:
            part_s, waited = self._patience_s / _PARTS, 0
            while waited < _PARTS:
                began = time.monotonic()
                done, _ = await asyncio.wait({question}, timeout=part_s)
                if done:
                    return question.result()
                waited += time.monotonic() - began < 2 * part_s
        finally:
            if not question.done():
                self.close()
                question.cancel()
                await asyncio.wait({question})
        return False

    async def _ask(self) -> bool:
        try:
            if self._connection is None or self._connection.is_closed():
                self._connection = await connect(
                    self._url, server_settings={"application_name": "tocsin liveness"}
                )
            await self._connection.execute("SELECT 1")
        except TimeoutError:  # of connecting
            return False
        except (*AWAY, asyncpg.PostgresError, asyncpg.InterfaceError):
            self.close()
        return True


@asynccontextmanager
async def watched(url: str, *pools: PoolActivity) -> AsyncIterator[None]:
    """Watch the database of these pools for the length of the block."""
    watch = LivenessWatch(url, *pools)
    task = asyncio.create_task(forever("database", watch.turn, timedelta(seconds=_EVERY_S)))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
        watch.close()
