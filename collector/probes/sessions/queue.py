"""A bounded queue that takes next to no memory while it is empty; most of a session's are."""

import asyncio
from typing import Generic, TypeVar

Item = TypeVar("Item")


class SlimQueue(Generic[Item]):
    """First in, first out. One takes, any number put; *most* is small, for it is a list."""

    __slots__ = ("_items", "_most", "_unfinished", "_waiters")

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: list[Item] = []
        self._unfinished = 0
        self._waiters: list[asyncio.Future[None]] = []  # for the next change

    def full(self) -> bool:
        return len(self._items) >= self._most

    async def put(self, item: Item) -> None:
        """Put it, as soon as there is room."""
        while self.full():
            await self._changed()
        self.put_nowait(item)

    def put_nowait(self, item: Item) -> None:
        """Put it, whether there is room or not."""
        self._items.append(item)
        self._unfinished += 1
        self._tell()

    async def get(self) -> Item:
        """The first, as soon as there is one; `task_done` when it was dealt with."""
        while not self._items:
            await self._changed()
        item = self._items.pop(0)
        self._tell()
        return item

    def task_done(self) -> None:
        self._unfinished -= 1
        self._tell()

    async def join(self) -> None:
        """Return when all that was put was dealt with."""
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
