"""A gate with few places: each key has a queue, and the keys take turns."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class Crowded(Exception):
    """Too many are waiting. *own*: too many of the same key."""

    def __init__(self, *, own: bool) -> None:
        super().__init__("too many wait")
        self.own = own


class FairGate:
    """Admits at most *most* at once, at most *each* per key.

    At most *waiting* wait in total, at most *waiting_each* per key.
    """

    def __init__(self, most: int, each: int, *, waiting: int, waiting_each: int) -> None:
        self._most = most
        self._each = each
        self._most_waiting = waiting
        self._waiting_each = waiting_each
        self._inside: dict[Hashable, int] = {}
        self._entered = 0
        self._waiting = 0
        # The key whose turn is next comes first.
        self._queues: dict[Hashable, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def inside(self, key: Hashable) -> AsyncIterator[None]:
        """Occupy a place within the block. Raises Crowded."""
        await self.enter(key)
        try:
            yield
        finally:
            self.leave(key)

    def enter_at_once(self, key: Hashable) -> bool:
        """Take a place if one is free for *key*; `leave` releases it."""
        if key in self._queues or not self._admits(key):
            return False
        self._take(key)
        return True

    async def enter(self, key: Hashable) -> None:
        """Wait for a place; `leave` releases it. Raises Crowded."""
        if self.enter_at_once(key):
            return
        queue = self._queues.get(key, ())
        if len(queue) >= self._waiting_each:
            raise Crowded(own=True)
        if self._waiting >= self._most_waiting:
            raise Crowded(own=False)
        await self._wait(key)

    def leave(self, key: Hashable) -> None:
        """Release a place and pass it to the next in turn."""
        self._entered -= 1
        self._inside[key] -= 1
        if not self._inside[key]:
            del self._inside[key]
        self._hand_on()

    async def _wait(self, key: Hashable) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(key, deque()).append(turn)
        self._waiting += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(key)
            else:
                self._give_up(key, turn)
            raise

    def _give_up(self, key: Hashable, turn: "asyncio.Future[None]") -> None:
        queue = self._queues.get(key)
        if queue is None or turn not in queue:
            return
        self._waiting -= 1
        queue.remove(turn)
        if not queue:
            del self._queues[key]

    def _hand_on(self) -> None:
        """Admit whoever may enter, one per key at a time."""
        while self._entered < self._most:
            next_ = next(((key, queue) for key, queue in self._queues.items() if self._admits(key)), None)
            if next_ is None:
                return
            key, queue = next_
            del self._queues[key]
            turn = queue.popleft()
            if queue:
                self._queues[key] = queue
            self._waiting -= 1
            if not turn.done():
                self._take(key)
                turn.set_result(None)

    def _admits(self, key: Hashable) -> bool:
        return self._entered < self._most and self._inside.get(key, 0) < self._each

    def _take(self, key: Hashable) -> None:
        self._entered += 1
        self._inside[key] = self._inside.get(key, 0) + 1
