"""Messages that wait to be sent on one session's stream: bounded, written by one task."""

from collections.abc import Awaitable, Callable

from collector.probes.sessions.queue import SlimQueue
from shared.wire.v1 import probe_pb2

_MOST = 64


class Outbox:
    """The queue of messages to a probe; if the probe does not read, writers wait."""

    __slots__ = ("_queue",)

    def __init__(self) -> None:
        self._queue = SlimQueue[probe_pb2.ToProbe](_MOST)

    async def put(self, message: probe_pb2.ToProbe) -> None:
        await self._queue.put(message)

    def offer(self, message: probe_pb2.ToProbe) -> bool:
        """Put *message* if there is room. Return whether there was."""
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
