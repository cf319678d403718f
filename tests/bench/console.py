"""The console's list of 10,000 monitors, a page at a time: ``python -m tests.bench.console``."""

import logging
import statistics
import time
from collections.abc import Iterator, Mapping
from typing import Final

import aiohttp
import psutil
import structlog
import uvloop

from tests.bench.api import MANY, Served, collector, filled
from tests.bench.figures import Figure

TIMES: Final = 50
PATHS: Final[Mapping[str, str]] = {
    "the overview": "/",
    "the first page": "/monitors",
    "the last page": f"/monitors?page={MANY // 50}",
    "those that are down": "/monitors?status=down",
    "those of a name": "/monitors?q=shop+77",
}


def run() -> Iterator[Figure]:
    """A collector of its own over PostgreSQL; this process is the browser."""
    yield from uvloop.run(_measure())


async def _measure() -> list[Figure]:
    async with collector() as served:
        await filled(served)
        async with aiohttp.ClientSession(served.url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            fields = {"token": served.token}
            async with session.post("/sign-in", data=fields, headers={"Origin": served.url}) as answer:
                answer.raise_for_status()
            return [
                figure
                for name, path in PATHS.items()
                for figure in await _figures(served, session, name, path)
            ]


async def _figures(served: Served, session: aiohttp.ClientSession, name: str, path: str) -> list[Figure]:
    process = psutil.Process(served.pid)
    before, took, size = process.cpu_times(), [], 0
    for _ in range(TIMES):
        began = time.monotonic()
        async with session.get(path) as answer:
            answer.raise_for_status()
            size = len(await answer.read())
        took.append(time.monotonic() - began)
    after = process.cpu_times()
    cpu_s = after.user + after.system - before.user - before.system
    return [
        Figure(
            f"console, {name} of {MANY:,} monitors, median", statistics.median(took) * 1000, "ms", at_most=100
        ),
        Figure("   the collector's CPU", cpu_s / TIMES * 1000, "ms"),
        Figure("   its size", size / 1000, "kB", at_most=150),
    ]


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for figure in run():
        print(figure, flush=True)
