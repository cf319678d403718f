"""Pages, search and open lists of 10,000 monitors: ``python -m tests.bench.console``."""

import asyncio
import gzip
import logging
import re
import statistics
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Final

import aiohttp
import psutil
import structlog
import uvloop

from tests.bench.api import MANY, Served, collector, filled
from tests.bench.figures import Figure

TIMES: Final = 50
# The address of each page, and what it may take in ms.
PATHS: Final[Mapping[str, tuple[str, int]]] = {
    "the overview": ("/", 50),
    "the first page": ("/monitors", 100),
    "the last page": (f"/monitors?page={MANY // 50}", 100),
    "those that are down": ("/monitors?status=down", 100),
    "those of a name": ("/monitors?q=shop+77", 100),
    "search of the palette": ("/search?q=shop+77", 20),
    "search without results": ("/search?q=nothing", 20),
}
# Open lists, the checks a second that they follow, and for how long.
LISTS: Final = 500
CHECKS: Final = 1_000
SECONDS: Final = 20


def run() -> Iterator[Figure]:
    """A collector of its own over PostgreSQL; this process is the browser."""
    yield from uvloop.run(_measure())


async def _measure() -> list[Figure]:
    async with collector() as served:
        await filled(served)
        async with aiohttp.ClientSession(
            served.url,
            cookie_jar=aiohttp.CookieJar(unsafe=True),
            connector=aiohttp.TCPConnector(limit=0),
        ) as session:
            fields = {"token": served.token}
            async with session.post("/sign-in", data=fields, headers={"Origin": served.url}) as answer:
                answer.raise_for_status()
            figures = [
                figure
                for name, (path, at_most) in PATHS.items()
                for figure in await _figures(served, session, name, path, at_most)
            ]
            return [*figures, *await _open_lists(served, session)]


async def _figures(
    served: Served, session: aiohttp.ClientSession, name: str, path: str, at_most: int
) -> list[Figure]:
    process = psutil.Process(served.pid)
    before, took, packed = process.cpu_times(), [], 0
    for _ in range(TIMES):
        began = time.monotonic()
        async with session.get(path) as answer:
            answer.raise_for_status()
            packed = len(gzip.compress(await answer.read()))
        took.append(time.monotonic() - began)
    after = process.cpu_times()
    cpu_s = after.user + after.system - before.user - before.system
    return [
        Figure(
            f"console, {name} of {MANY:,} monitors, median",
            statistics.median(took) * 1000,
            "ms",
            at_most=at_most,
        ),
        Figure("   the collector's CPU", cpu_s / TIMES * 1000, "ms"),
        Figure("   its size, packed", packed / 1000, "kB", at_most=60),
    ]


async def _open_lists(served: Served, session: aiohttp.ClientSession) -> list[Figure]:
    """Follow the first page in LISTS consoles while CHECKS monitors a second are checked, evenly over all."""
    async with session.get("/monitors") as answer:
        shown = ",".join(f"{name}@" for name in re.findall(r'data-id="(mon_\w+)"', await answer.text()))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(
            _ended, [asyncio.create_task(_follow(session, shown)) for _ in range(LISTS)]
        )
        await _checked(served, 5)
        process = psutil.Process(served.pid)
        before, began = process.cpu_times(), time.monotonic()
        await _checked(served, SECONDS)
        after, took = process.cpu_times(), time.monotonic() - began
    cpu_s = after.user + after.system - before.user - before.system
    name = f"{LISTS} open lists while {CHECKS:,} checks a second come in"
    return [Figure(f"console, {name}", cpu_s / took * 100, "% of a core", at_most=10)]


async def _follow(session: aiohttp.ClientSession, shown: str) -> None:
    async with session.get("/monitors/live", params={"shown": shown}) as answer:
        answer.raise_for_status()
        async for _ in answer.content.iter_any():
            pass


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _checked(served: Served, seconds: int) -> None:
    """Have monitors checked as the writer of results records it, in the order of their numbers."""
    for second in range(seconds):
        began = time.monotonic()
        await served.db.execute(_CHECKED, CHECKS, second * CHECKS % MANY)
        await asyncio.sleep(max(0.0, 1 - (time.monotonic() - began)))


_CHECKED: Final = """
WITH checked AS (
    UPDATE states SET last_at = now(), last_ms = 20, last_status = 1
    WHERE monitor IN (SELECT monitor FROM monitors ORDER BY monitor LIMIT $1 OFFSET $2)
        AND location = (SELECT min(location) FROM locations)
    RETURNING monitor, location
)
INSERT INTO results (ts, monitor, ms, location, n, run, status, code)
SELECT now(), monitor, 20, location, 0, 1, 1, 200 FROM checked ON CONFLICT DO NOTHING
"""


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for figure in run():
        print(figure, flush=True)
