"""Servers of tests on asyncio's streams, which leave nothing open behind them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]

# From accept(2) to the handler's task asyncio takes three turns of the loop.
_TURNS: Final = 3


@asynccontextmanager
async def stream_server(
    handle: Handler,
    host: str = "127.0.0.1",
    *,
    path: Path | None = None,
    tls: ssl.SSLContext | None = None,
    backlog: int = 100,
) -> AsyncIterator[int]:
    """Serve each connection to a free port of *host*, or to the Unix socket *path*, by *handle*.

    Gives the port, or 0. At the end of the block handlers are cancelled and all connections aborted, also
    those just accepted: asyncio leaves them to the garbage collector, whose warning fails a later test.
    """
    open_: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await handle(reader, writer)
        if writer.is_closing():
            with suppress(OSError):
                await writer.wait_closed()
            del open_[writer]

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_[writer] = asyncio.create_task(carry(reader, writer))

    if path is not None:
        server = await asyncio.start_unix_server(connected, path, backlog=backlog, ssl=tls)
    else:
        server = await asyncio.start_server(connected, host, 0, backlog=backlog, ssl=tls)
    try:
        yield 0 if path is not None else server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        left = dict(open_)
        for task in left.values():
            task.cancel()
        await asyncio.gather(*left.values(), return_exceptions=True)
        for writer in left:
            writer.transport.abort()
        await asyncio.sleep(0)  # an aborted connection is closed in the next turn
