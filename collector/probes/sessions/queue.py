"""The bounded queues of a session, which take next to no memory while they are empty, as most are."""

import asyncio
from typing import Generic, Protocol, TypeVar

from shared.wire.v1 import probe_pb2

_MOST_MESSAGES = 64

Item = TypeVar("Item")


class FrameWriter(Protocol):
    """Writes a message to a probe's stream; returns once gRPC took it."""

    async def __call__(self, message: probe_pb2.ToProbe, /) -> None: ...


class SlimQueue(Generic[Item]):
    """A FIFO queue with one consumer and any number of producers; a list, so keep *most* small."""

    __slots__ = ("_items", "_most", "_unfinished", "_waiters")

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: list[Item] = []
        self._unfinished = 0
        self._waiters: list[asyncio.Future[None]] = []  # woken by the next change

    def full(self) -> bool:
        return len(self._items) >= self._most

    async def put(self, item: Item) -> None:
        """Append an item once there is room."""
        while self.full():
            await self._changed()
        self.put_nowait(item)

    def put_nowait(self, item: Item) -> None:
        """Append an item even if the queue is full."""
        self._items.append(item)
        self._unfinished += 1
        self._wake()

    async def get(self) -> Item:
        """Wait for the first item and remove it; call `task_done` when it was handled."""
        while not self._items:
            await self._changed()
        item = self._items.pop(0)
        self._wake()
        return item

    def task_done(self) -> None:
        self._unfinished -= 1
        self._wake()

    async def join(self) -> None:
        """Wait until all items were handled."""
        while self._unfinished:
            await self._changed()

    async def _changed(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()


class Outbox:
    """Messages to a probe, written by one task; if the probe does not read, writers wait."""

    __slots__ = ("_queue",)

    def __init__(self) -> None:
        self._queue = SlimQueue[probe_pb2.ToProbe](_MOST_MESSAGES)

    async def put(self, message: probe_pb2.ToProbe) -> None:
        await self._queue.put(message)

    def offer(self, message: probe_pb2.ToProbe) -> bool:
        """Put *message* if there is room. Return whether there was."""
        if self._queue.full():
            return False
        self._queue.put_nowait(message)
        return True

    async def run(self, write: FrameWriter) -> None:
        while True:
            await write(await self._queue.get())
            self._queue.task_done()

    async def drained(self) -> None:
        await self._queue.join()
