"""A public page of 50 components by the collector's CPU: ``python -m tests.bench.status_page``."""

import asyncio
import logging
import re
import time
from collections.abc import Iterator
from typing import cast

import aiohttp
import psutil
import structlog
import uvloop

from shared import ids
from tests.bench.api import Served, collector
from tests.bench.figures import Figure

COMPONENTS = 50
CONNECTIONS = 32
SECONDS = 3.0
_LENGTH = re.compile(rb"Content-Length: (\d+)")
UNIT = "requests per CPU-second"
_BODY = {"type": "tcp", "config": {"host": "shop.example.com", "port": 443}, "locations": ["eu"]}
_DAYS = """
    INSERT INTO rollups_day (monitor, location, at, checks, good, failed, unknown, answers, sum_ms, buckets,
        counts, known_ms, down_ms)
    SELECT m.monitor, 0, date_trunc('day', now(), 'UTC') - n * interval '1 day', 1440, 1440, 0, 0, 1440,
        90000, '{}', '{}', 86400000, CASE WHEN (m.monitor + n) % 30 = 0 THEN 600000 ELSE 0 END
    FROM monitors m, generate_series(1, 90) n
"""
_HOURS = """
    INSERT INTO rollups_hour (monitor, location, at, checks, good, failed, unknown, answers, sum_ms, buckets,
        counts, known_ms, down_ms)
    SELECT m.monitor, 0, date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 60, 60, 0, 0, 60,
        60 * (40 + (m.monitor * 7 + n * 13) % 50), '{}', '{}', 3600000, 0
    FROM monitors m, generate_series(1, 24) n
"""
_DONE = "INSERT INTO rollups_done (until) VALUES (date_trunc('hour', now())) ON CONFLICT (one) DO NOTHING"
_QUERIES = "SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database WHERE datname = current_database()"


def run() -> Iterator[Figure]:
    """A collector of its own over PostgreSQL, asked from this process."""
    yield from uvloop.run(_measure())


async def _measure() -> list[Figure]:
    async with collector() as served:
        await _made(served)
        plain, size = await _rate(served, "/status/example", "Accept-Encoding: gzip\r\n")
        bare, whole = await _rate(served, "/status/example", "")
        same, _ = await _rate(served, "/status/example", f"If-None-Match: {await _tag(served)}\r\n")
        before = await served.db.fetchval(_QUERIES)
        many, _ = await _rate(served, "/status/example.json", "")
        queries = await served.db.fetchval(_QUERIES) - before
    return [
        Figure("status page, 50 components, gzip", plain, UNIT, at_least=10_000),
        Figure("status page, 50 components, as it is", bare, UNIT),
        Figure("status page, 304", same, UNIT, at_least=plain),
        Figure("status page, JSON", many, UNIT),
        Figure("   its size over the wire", size / 1000, "kB", at_most=50),
        Figure("   its size unpacked", whole / 1000, "kB"),
        Figure("   transactions by second while it is asked for", float(queries) / SECONDS, "", at_most=100),
    ]


async def _made(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.token}"}
    async with aiohttp.ClientSession(served.url, headers=headers) as session:
        components = []
        for n in range(COMPONENTS):
            async with session.post("/v1/monitors", json={**_BODY, "name": f"shop {n}"}) as response:
                id_ = (await response.json())["id"]
            components.append({"name": f"System number {n}", "monitorId": id_, "group": f"Group {n // 10}"})
            assert ids.read("mon", id_)
        for query in (_DAYS, _HOURS, _DONE):
            await served.db.execute(query)
        body = {"name": "Example", "slug": "example", "components": components}
        async with session.post("/v1/status-pages", json=body) as response:
            assert response.status == 201


async def _tag(served: Served) -> str:
    async with (
        aiohttp.ClientSession(served.url) as session,
        session.get("/status/example", headers={"Accept-Language": "en"}) as response,
    ):
        return response.headers["ETag"]


async def _rate(served: Served, path: str, headers: str) -> tuple[float, int]:
    """Requests by CPU second of the collector, and the bytes of an answer's body."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Language: en\r\n{headers}\r\n".encode()
    await _ask(served, request, 0.3)
    process = psutil.Process(served.pid)
    before = process.cpu_times()
    askers = await _ask(served, request, SECONDS)
    after = process.cpu_times()
    spent = after.user + after.system - before.user - before.system
    return sum(asker.count for asker in askers) / spent, askers[0].size


async def _ask(served: Served, request: bytes, seconds: float) -> "list[Asker]":
    until = time.monotonic() + seconds
    made = [
        await asyncio.get_running_loop().create_connection(
            lambda: Asker(request, until), "127.0.0.1", served.port
        )
        for _ in range(CONNECTIONS)
    ]
    await asyncio.gather(*[asker.done for _, asker in made])
    return [asker for _, asker in made]


class Asker(asyncio.Protocol):
    """Asks the same again and again until *until*; *count* is of whole answers."""

    def __init__(self, request: bytes, until: float) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.count = self.size = 0
        self._request = request
        self._until = until
        self._got = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's says that it is none
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._got += data
        end = self._got.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._got[:end])
        length = 0 if head.startswith(b"HTTP/1.1 304") else int(_LENGTH.findall(head)[0])
        if len(self._got) < end + 4 + length:
            return
        assert head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 304")), head
        self.count, self.size = self.count + 1, length
        self._got.clear()
        if time.monotonic() > self._until:
            self.done.set_result(None)
            self._transport.close()
        else:
            self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionResetError())


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for figure in run():
        print(figure, flush=True)
