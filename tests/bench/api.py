"""Reads of the API by the collector's CPU: ``python -m tests.bench.api``."""

import asyncio
import logging
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import cast
from uuid import UUID

import aiohttp
import asyncpg
import psutil
import structlog
import uvloop

from collector.platform.embedded.server import Embedded
from shared import ids
from shared.tokens import new_key, new_token
from tests.bench.figures import Figure
from tests.ports import free_port

FEW, MANY = 100, 10_000
READ = 500
CONNECTIONS = 32
SECONDS = 3.0
TIMES = 200
UNIT = "requests per CPU-second"
LENGTH = re.compile(rb"Content-Length: (\d+)")


def run() -> Iterator[Figure]:
    """A collector of its own over PostgreSQL, asked from this process."""
    yield from uvloop.run(_measure())


@dataclass(frozen=True, slots=True)
class Served:
    """A collector at work; *db* is the database behind it."""

    port: int
    pid: int
    token: str
    db: "asyncpg.Connection[asyncpg.Record]"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


async def _measure() -> list[Figure]:
    async with collector() as served:
        template = await furnished(served)
        few = {path: await _median_ms(served, path) for path in _LISTS}
        await _many(served, template)
        many = {path: await _median_ms(served, path) for path in _LISTS}
        return [figure async for figure in _figures(served, few, many)]


_LISTS = (
    "/v1/monitors?limit=20",
    "/v1/monitors?limit=20&page=5",
    "/v1/monitors?limit=20&type=tcp",
    "/v1/monitors?limit=20&group=group%207",
    "/v1/monitors?limit=20&tag=team:3",
    "/v1/monitors?limit=20&status=down",
    "/v1/monitors?limit=20&status=paused",
)


async def _figures(served: Served, few: dict[str, float], many: dict[str, float]) -> AsyncIterator[Figure]:
    known = await some(served)
    one = [f"/v1/monitors/{each}" for each in known]
    yield Figure("api, nothing but the server (healthz)", await rate(served, ["/healthz"]), UNIT)
    yield Figure("api, a monitor", await rate(served, one), UNIT, at_least=4_000)
    strangers = {"no token": "", "a malformed token": "tocsin_x", "an unknown token": new_token()}
    for name, token in strangers.items():
        stranger = replace(served, token=token)
        yield Figure(f"api, 401 or 429 for {name}", await rate(stranger, one), UNIT, at_least=15_000)
    for path in _LISTS:
        bound = 1_500 if path == _LISTS[0] else None
        yield Figure(f"api, {_short(path)}", await rate(served, [path]), UNIT, at_least=bound)
    last = f"/v1/monitors?limit=20&page={MANY // 20}"
    yield Figure("api, the last page of 10,000", await rate(served, [last]), UNIT)
    newest = [f"/v1/monitors/{each}/results" for each in known]
    yield Figure("api, the newest 100 results", await rate(served, newest), UNIT)
    for path in _LISTS:
        yield Figure(f"api, median, {_short(path)}, of 10,000", many[path], "ms")
        yield Figure("   by that of 100", many[path] / few[path], "times", at_most=2)


def _short(path: str) -> str:
    return path.removeprefix("/v1/")


@asynccontextmanager
async def collector() -> AsyncIterator[Served]:
    """Gone with its database at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as directory:
        embedded = Embedded(Path(directory) / "db")
        embedded.data_dir.mkdir()
        await embedded.start()
        try:
            async with _serving(Path(directory), embedded.url) as served:
                yield served
        finally:
            await embedded.stop()


@asynccontextmanager
async def _serving(directory: Path, database: str) -> AsyncIterator[Served]:
    port, token = free_port(), new_token()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")} | {
        "TOCSIN_DATA_DIR": str(directory / "data"),
        "TOCSIN_DATABASE_URL": database,
        "TOCSIN_SECRET_KEY": new_key(),
        "TOCSIN_BOOTSTRAP_TOKEN": token,
        "TOCSIN_HTTP_LISTEN": f"127.0.0.1:{port}",
        "TOCSIN_GRPC_LISTEN": f"127.0.0.1:{free_port()}",
        "TOCSIN_OTLP_LISTEN": f"127.0.0.1:{free_port()}",
        "TOCSIN_PLAN": "enterprise",
        "TOCSIN_RATE_PER_MINUTE": "60000000",
        "TOCSIN_LOG_LEVEL": "warning",
    }
    command = [sys.executable, "-m", "shared.command", "collector"]
    process = subprocess.Popen(
        command, env=environment, cwd=Path(__file__).parents[2], stdout=subprocess.DEVNULL
    )
    try:
        await _ready(f"http://127.0.0.1:{port}/readyz")
        db = await asyncpg.connect(database)
        try:
            yield Served(port, process.pid, token, db)
        finally:
            await db.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=15)


async def _ready(url: str) -> None:
    async with asyncio.timeout(60), aiohttp.ClientSession() as session:
        while True:
            with suppress(aiohttp.ClientError):
                async with session.get(url) as response:
                    if response.status == 200:
                        return
            await asyncio.sleep(0.05)


_BODY = {
    "name": "shop",
    "type": "http",
    "config": {"url": "https://shop.example.com/", "headers": {"Accept": "text/html"}},
    "locations": ["eu", "us", "ap"],
    "tags": {"team": "0", "env": "production"},
}
# Each fourth of the few is asked for by its type, group or tag, another is down, another paused, so that a
# page of them is as full as one of the many.
_OTHER = {
    "type": "tcp",
    "config": {"host": "db.example.com", "port": 5432},
    "group": "group 7",
    "tags": {"team": "3", "env": "production"},
}


async def furnished(served: Served) -> UUID:
    """Monitors as the API makes them, with sealed headers and a day of results; the last of them."""
    made = await _made(served)
    await _history(served)
    return made


async def filled(served: Served) -> None:
    """MANY monitors, and a day of results of those that are read."""
    await _many(served, await _made(served))


async def _many(served: Served, template: UUID) -> None:
    await _copies(served, template, MANY - FEW)
    await _history(served)


async def _made(served: Served) -> UUID:
    headers = {"Authorization": f"Bearer {served.token}"}
    async with aiohttp.ClientSession(served.url, headers=headers) as session:
        for n in range(FEW):
            body = _BODY if n % 4 else _BODY | _OTHER
            async with session.post("/v1/monitors", json=body) as response:
                response.raise_for_status()
                made = ids.read("mon", (await response.json())["id"])
    assert made is not None
    await served.db.execute(_STANDING)
    return made


async def _copies(served: Served, template: UUID, count: int) -> None:
    """Without secrets, which open only where they were sealed; some of them tcp, down, paused."""
    await served.db.execute(_COPIES, template, count)


async def _history(served: Served) -> None:
    """States of all, and a day of results of those that are read."""
    await served.db.execute(_STATES)
    await served.db.execute(_RESULTS, READ)
    await served.db.execute("VACUUM ANALYZE")


_STANDING = """
UPDATE monitors m SET down = place % 4 = 1, told = place % 4 = 1,
    paused_at = CASE WHEN place % 4 = 2 THEN now() END
FROM (SELECT monitor, row_number() OVER (ORDER BY monitor) - 1 AS place FROM monitors) of
WHERE of.monitor = m.monitor
"""
_COPIES = """
INSERT INTO monitors (team_id, id, name, type, config, interval_s, timeout_s, locations, tags,
    severity, failure_threshold, recovery_threshold, group_name, down, told, paused_at,
    changed_at, created_at, updated_at)
SELECT team_id, gen_random_uuid(), 'shop ' || n,
    CASE WHEN n % 5 = 0 THEN 'tcp' ELSE type END,
    CASE WHEN n % 5 = 0 THEN '{"host": "db.example.com", "port": 5432}' ELSE config END,
    interval_s, timeout_s, locations, jsonb_build_object('team', (n % 9)::text, 'env', 'production'),
    severity, failure_threshold, recovery_threshold, 'group ' || n % 20, n % 25 = 1, n % 25 = 1,
    CASE WHEN n % 25 = 2 THEN now() END, changed_at, created_at + n * interval '1 ms', updated_at
FROM monitors, generate_series(1, $2::int) AS n WHERE id = $1
"""
_STATES = """
INSERT INTO states (monitor, location, turn, revision, failing, last_at, last_status, last_ms)
SELECT m.monitor, l.location, l.location, m.revision, m.down, now() - interval '1 minute', 1, 20
FROM monitors m JOIN locations l ON l.name = ANY(m.locations)
ON CONFLICT (monitor, location) DO UPDATE SET last_at = excluded.last_at, last_status = 1, last_ms = 20
"""
_RESULTS = """
INSERT INTO results (ts, monitor, ms, location, n, run, status, code)
SELECT now() - minute * interval '5 minutes', m.monitor, 20 + minute % 40, l.location, 0, 1, 1, 200
FROM (SELECT * FROM monitors ORDER BY created_at LIMIT $1) m JOIN locations l ON l.name = ANY(m.locations),
    generate_series(1, 288) AS minute
ON CONFLICT DO NOTHING
"""


async def some(served: Served) -> list[str]:
    rows = await served.db.fetch("SELECT id FROM monitors ORDER BY created_at LIMIT $1", READ)
    return [ids.show("mon", row["id"]) for row in rows]


async def rate(served: Served, paths: Sequence[str], most: int | None = None) -> float:
    """Requests by CPU second of the collector, when each path was asked for once already.

    Of *most* requests, else of those of a while.
    """
    requests = [request(served, path) for path in paths]
    await ask(served, requests, CONNECTIONS, len(requests) + CONNECTIONS)
    process = psutil.Process(served.pid)
    before = process.cpu_times()
    took = await ask(served, requests, CONNECTIONS, most)
    after = process.cpu_times()
    return len(took) / (after.user + after.system - before.user - before.system)


async def _median_ms(served: Served, path: str) -> float:
    """Of one request after the other, on one connection."""
    return statistics.median(await ask(served, [request(served, path)], 1, TIMES)) * 1000


async def ask(
    served: Served, requests: Sequence[bytes], connections: int, most: int | None = None
) -> list[float]:
    """One request after the other on each connection, for a while or up to *most*; what each took, in s."""
    took: list[float] = []
    until = time.monotonic() + (SECONDS if most is None else 60)
    waiting = islice(cycle(requests), most)
    made = [
        await asyncio.get_running_loop().create_connection(
            lambda: Asker(waiting, until, took), "127.0.0.1", served.port
        )
        for _ in range(connections)
    ]
    await asyncio.gather(*[asker.done for _, asker in made])
    return took


class Asker(asyncio.Protocol):
    """Asks until *until* or the last of *requests*; notes what each answer took, and costs little."""

    def __init__(self, requests: Iterator[bytes], until: float, took: list[float]) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests = requests
        self._until = until
        self._took = took
        self._got = bytearray()
        self._asked_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's says that it is none
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, blank, body = bytes(self._got).partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if not blank or length is None or len(body) < int(length[1]):
            return
        if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 401", b"HTTP/1.1 429")):
            self.done.set_exception(AssertionError(self._got.decode()))
            return
        self._took.append(time.monotonic() - self._asked_at)
        self._got.clear()
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionResetError())

    def _ask(self) -> None:
        self._asked_at = time.monotonic()
        request = next(self._requests, None)
        if request is None or self._asked_at > self._until:
            self.done.set_result(None)
            self._transport.close()
        else:
            self._transport.write(request)


def request(served: Served, path: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\nAccept: */*\r\n\r\n"
    ).encode()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for figure in run():
        print(figure, flush=True)
