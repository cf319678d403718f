"""A line to a server that can be cut: nothing passes any more, and neither end notices."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.streams import stream_server


class Cable:
    """*port* leads to the server for as long as *whole* is set, and back for as long as *answers* is, too."""

    def __init__(self, address: str) -> None:
        self._host, _, self._port = address.rpartition(":")
        self.port = 0
        self.whole = asyncio.Event()
        self.whole.set()
        self.answers = asyncio.Event()
        self.answers.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, both ways, until either end closes it."""
        there: asyncio.StreamWriter | None = None
        ways: list[asyncio.Task[None]] = []
        try:
            await self.whole.wait()
            if self._host:
                answers, there = await asyncio.open_connection(self._host, int(self._port))
            else:
                answers, there = await asyncio.open_unix_connection(self._port)
            pumps = (
                self._pump(reader, there, self.whole),
                self._pump(answers, writer, self.whole, self.answers),
            )
            ways = [asyncio.create_task(pump) for pump in pumps]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for end in filter(None, (there, writer)):
                end.transport.abort()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *open_: asyncio.Event
    ) -> None:
        while data := await reader.read(65536):
            for each in open_:
                await each.wait()
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def cable(address: str) -> AsyncIterator[Cable]:
    """A line to ``host:port``, or to a Unix socket by its path; ends with the block."""
    made = Cable(address)
    async with stream_server(made.carry) as made.port:
        yield made
