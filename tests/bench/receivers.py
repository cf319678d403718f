"""Receivers in a process of their own: one that answers at once and one that never does."""

import asyncio
import multiprocessing
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import cast

import uvloop

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Receivers:
    """*good* and *stalling* are the beginnings of URLs."""

    good: str
    stalling: str
    _pipe: Connection

    def arrived(self) -> list[tuple[float, bytes]]:
        """What was answered since the last question: when, by the monotonic clock, and its body."""
        self._pipe.send(None)
        found: list[tuple[float, bytes]] = self._pipe.recv()
        return found


@contextmanager
def receivers() -> Iterator[Receivers]:
    """Gone at the end of the block."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(theirs,), daemon=True)
    process.start()
    # Else nobody notices that the process is gone.
    theirs.close()
    ports: tuple[int, int] = ours.recv()
    try:
        good, stalling = (f"http://127.0.0.1:{port}" for port in ports)
        yield Receivers(good, stalling, ours)
    finally:
        process.terminate()
        process.join()


class _Good(asyncio.Protocol):
    def __init__(self, arrived: list[tuple[float, bytes]]) -> None:
        self._arrived = arrived
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, _, body = self._data.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if length is None or len(body) < int(length[1]):
            return
        self._arrived.append((time.monotonic(), body))
        self._transport.write(_ANSWER)
        self._transport.close()


def _run(pipe: Connection) -> None:
    uvloop.run(_serve(pipe))


async def _serve(pipe: Connection) -> None:
    arrived: list[tuple[float, bytes]] = []
    over = asyncio.Event()
    loop = asyncio.get_running_loop()

    def asked() -> None:
        try:
            pipe.recv()
        except EOFError:
            over.set()
            return
        pipe.send(arrived)
        arrived.clear()

    good = await loop.create_server(lambda: _Good(arrived), "127.0.0.1", 0, backlog=4096)
    stalling = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0, backlog=4096)
    pipe.send(tuple(server.sockets[0].getsockname()[1] for server in (good, stalling)))
    loop.add_reader(pipe.fileno(), asked)
    await over.wait()
