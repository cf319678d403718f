"""A bounded queue that takes next to no memory while it is empty; most of a session's are."""

import asyncio
from typing import Generic, TypeVar

Item = TypeVar("Item")


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
        self._tell()

    async def get(self) -> Item:
        """Wait for the first item and remove it; call `task_done` when it was handled."""
        while not self._items:
            await self._changed()
        item = self._items.pop(0)
        self._tell()
        return item

    def task_done(self) -> None:
        self._unfinished -= 1
        self._tell()

    async def join(self) -> None:
        """Wait until all items were handled."""
        while self._unfinished:
            await self._changed()

    async def _changed(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def _tell(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()
