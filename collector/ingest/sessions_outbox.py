"""What waits to go down one session's stream: bounded, and written by one task."""

import asyncio
from collections.abc import Awaitable, Callable

from shared.wire.v1 import probe_pb2

_MOST = 64


class Outbox:
    """A probe that does not read fills it, and whoever has more for that probe then waits."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[probe_pb2.ToProbe] = asyncio.Queue(_MOST)

    async def put(self, message: probe_pb2.ToProbe) -> None:
        await self._queue.put(message)

    def offer(self, message: probe_pb2.ToProbe) -> bool:
        """Put it if there is room."""
        if self._queue.full():
            return False
        self._queue.put_nowait(message)
        return True

    async def run(self, write: Callable[[probe_pb2.ToProbe], Awaitable[None]]) -> None:
        while True:
            await write(await self._queue.get())
            self._queue.task_done()

    async def drained(self) -> None:
        await self._queue.join()
