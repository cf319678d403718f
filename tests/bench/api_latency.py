"""How long the API takes at half of what it can do: ``python -m tests.bench.api_latency``.

First as many requests as it answers (each connection asks again at once), then half as many a second, which
come by chance, whatever is answered meanwhile; how long each took is counted from the moment it was due.
"""

import asyncio
import gc
import math
import random
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Final, cast

import uvloop

from tests.bench.api import CONNECTIONS, LENGTH, Served, ask, collector, furnished, request, some
from tests.bench.figures import Figure

SECONDS: Final = 15.0
LINES: Final = 128
_TICK_S: Final = 0.001


def run() -> Iterator[Figure]:
    """A collector of its own over PostgreSQL; this process asks."""
    yield from uvloop.run(_measure())


async def _measure() -> list[Figure]:
    async with collector() as served:
        await furnished(served)
        one = [f"/v1/monitors/{each}" for each in await some(served)]
        return [
            *await _figures(served, "a monitor", one),
            *await _figures(served, "a list of 20", ["/v1/monitors?limit=20"]),
            *await _figures(served, "a list, a monitor, its results", [*_mix(one)]),
        ]


def _mix(one: Sequence[str]) -> Iterator[str]:
    for path in one:
        yield from (path, "/v1/monitors?limit=20", f"{path}/results", "/v1/me", path)


async def _figures(served: Served, name: str, paths: Sequence[str]) -> list[Figure]:
    requests = [request(served, path) for path in paths]
    started = time.monotonic()
    answered = len(await ask(served, requests, CONNECTIONS))
    most = answered / (time.monotonic() - started)
    took = await _come(served, requests, most / 2)
    late = sorted(took)
    return [
        Figure(f"api, {name}, saturated", most, "requests a second"),
        Figure("   at half of that: median", _at(late, 0.5), "ms"),
        Figure("   99th percentile", _at(late, 0.99), "ms", at_most=20),
        Figure("   longest", late[-1] * 1000, "ms"),
    ]


def _at(took: Sequence[float], part: float) -> float:
    return took[int(len(took) * part)] * 1000


async def _come(served: Served, requests: Sequence[bytes], per_second: float) -> list[float]:
    """How long each took, in seconds, endless for one that failed; they come as people do, each by itself."""
    chance, waiting, free = random.Random(7), deque[tuple[float, bytes]](), list["Line"]()
    took: list[float] = []
    loop = asyncio.get_running_loop()
    for _ in range(LINES):
        _, line = await loop.create_connection(lambda: Line(waiting, free, took), "127.0.0.1", served.port)
        free.append(line)
    gc.collect()
    gc.disable()  # our own pauses are not the collector's
    try:
        todo, due = cycle(requests), time.monotonic()
        until = due + SECONDS
        while due < until:
            due += chance.expovariate(per_second)
            while (now := time.monotonic()) < due:
                await asyncio.sleep(max(_TICK_S, due - now))
            waiting.append((due, next(todo)))
            if free:
                free.pop().next()
        async with asyncio.timeout(60):
            while len(free) < LINES:
                await asyncio.sleep(_TICK_S)
    finally:
        gc.enable()
    for line in free:
        line.close()
    return took


class Line(asyncio.Protocol):
    """A connection that takes what waits, one at a time, and joins the *free* ones when nothing does."""

    def __init__(self, waiting: deque[tuple[float, bytes]], free: list["Line"], took: list[float]) -> None:
        self._waiting = waiting
        self._free = free
        self._took = took
        self._due = 0.0
        self._got = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's says that it is none

    def close(self) -> None:
        self._transport.close()

    def next(self) -> None:
        """Ask what waits for the longest."""
        self._due, request = self._waiting.popleft()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, blank, body = bytes(self._got).partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if not blank or length is None or len(body) < int(length[1]):
            return
        good = head.startswith(b"HTTP/1.1 200")
        self._took.append(time.monotonic() - self._due if good else math.inf)
        self._got.clear()
        if self._waiting:
            self.next()
        else:
            self._free.append(self)


if __name__ == "__main__":
    for figure in run():
        print(figure, flush=True)
