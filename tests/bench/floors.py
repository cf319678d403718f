"""Floors of `make bench-guard`: small programs that do the same kind of work and nothing else.

``python -m tests.bench.floors connects PORT`` connects to a target whenever it reads a line, and prints how
many connections it makes for each second of its CPU; ``... http`` answers requests, and prints its port.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, cast

import uvloop

from collector.platform.storage.db import Tx
from shared.clock import utc_now

_CONNECTS: Final = 2_000
_AT_ONCE: Final = 32
_ROWS: Final = 40_000
_ROUND_TRIPS: Final = 20
_REQUEST: Final = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
_ANSWERED: Final = {"id": "mon_x", "name": "shop", "config": {"url": "https://shop.example.com/"}}


Floor: TypeAlias = "subprocess.Popen[str]"


@contextmanager
def running(*arguments: str) -> Iterator[Floor]:
    """A floor as a process of its own, gone at the end of the block."""
    command = [sys.executable, "-m", "tests.bench.floors", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: Floor) -> str:
    """Return the next line that it prints."""
    assert process.stdout is not None
    return process.stdout.readline()


def connects(process: Floor) -> float:
    """Let it connect; return its connections per CPU-second."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return float(line(process))


async def copy(tx: Tx) -> int:
    """Copy rows as narrow as results into a table without indexes; return how many."""
    await tx.execute(
        """
        CREATE TABLE IF NOT EXISTS floor (ts timestamptz, monitor int, location int2, ms int, status int2)
        """
    )
    now = utc_now()
    rows = [(now, n, n % 5, n % 40, 1) for n in range(_ROWS)]
    await tx.copy_records_to_table("floor", records=rows)
    return _ROWS


def json_round_trips(values: Sequence[Any]) -> float:
    """Return how many of *values* Python's json writes and reads per CPU-second."""
    began = time.process_time()
    for _ in range(_ROUND_TRIPS):
        for value in values:
            json.loads(json.dumps(value))
    return _ROUND_TRIPS * len(values) / (time.process_time() - began)


class _Connect(asyncio.Protocol):
    def __init__(self) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).write(_REQUEST)

    def connection_lost(self, exc: Exception | None) -> None:
        self.done.set_result(None)


async def _connects(port: int) -> float:
    loop, left = asyncio.get_running_loop(), iter(range(_CONNECTS))

    async def one_after_another() -> None:
        for _ in left:
            _, connection = await loop.create_connection(_Connect, "127.0.0.1", port)
            await connection.done

    began = time.process_time()
    await asyncio.gather(*(one_after_another() for _ in range(_AT_ONCE)))
    return _CONNECTS / (time.process_time() - began)


class _Answer(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        body = json.dumps(_ANSWERED)
        self._transport.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main(argv: Sequence[str]) -> None:
    if argv[0] == "http":
        uvloop.run(_serve())
    for _ in sys.stdin:
        print(uvloop.run(_connects(int(argv[1]))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
