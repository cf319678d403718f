"""10,000 monitors as Prometheus reads them, by the collector's CPU: ``python -m tests.bench.scrape``."""

import asyncio
import statistics
import time
from collections.abc import Iterator

import aiohttp
import psutil
import uvloop

from shared.phases import pack
from shared.results import Phases
from tests.bench.api import Served, collector
from tests.bench.figures import Figure

MONITORS = 10_000
TIMES = 5
_PHASES = pack(Phases(dns_us=1200, connect_us=9400, tls_us=12_800, first_byte_us=31_000, transfer_us=400))
_MONITORS = """
    INSERT INTO monitors (team_id, id, name, type, config, interval_s, timeout_s, locations, severity,
        failure_threshold, recovery_threshold, changed_at, created_at, updated_at)
    SELECT 1, gen_random_uuid(), 'shop ' || n, 'http', '{"url": "https://shop.example.com/"}', 60, 10, '{eu}',
        'critical', 3, 1, now(), now(), now()
    FROM generate_series(1, $1::int) n
"""
_LOCATION = "INSERT INTO locations (name) VALUES ('eu')"
_RESULTS = """
    INSERT INTO results (ts, monitor, ms, location, n, run, status, code, phases)
    SELECT date_trunc('milliseconds', now()) - n * interval '1 minute', monitor, 54, location, 0, 1, 1,
        200, $1
    FROM monitors, locations, generate_series(0, 30) n
"""
_STATES = """
    INSERT INTO states (monitor, location, turn, revision, last_at, last_status, last_ms)
    SELECT monitor, location, 1, 1, max(ts), 1, 54 FROM results GROUP BY monitor, location
    ON CONFLICT DO NOTHING
"""


def run() -> Iterator[Figure]:
    """A collector of its own over PostgreSQL, scraped from this process."""
    yield from uvloop.run(_measure())


async def _measure() -> list[Figure]:
    async with collector() as served:
        for sql, values in ((_LOCATION, ()), (_MONITORS, (MONITORS,)), (_RESULTS, (_PHASES,)), (_STATES, ())):
            await served.db.execute(sql, *values)
        await served.db.execute("ANALYZE")
        await _scraped(served)
        cpu, before = psutil.Process(served.pid).cpu_times(), time.monotonic()
        sizes, waits = [], [0.0]
        for _ in range(TIMES):
            waiting = asyncio.create_task(_worst(served, waits))
            sizes.append(await _scraped(served))
            waiting.cancel()
        took = time.monotonic() - before
        after = psutil.Process(served.pid).cpu_times()
    spent = after.user + after.system - cpu.user - cpu.system
    return [
        Figure("scrape of 10,000 monitors, CPU", spent / TIMES, "s", at_most=1),
        Figure("   until it is read", took / TIMES, "s"),
        Figure("   its size", statistics.mean(sizes) / 1e6, "MB"),
        Figure("   the longest that somebody else waits meanwhile", max(waits) * 1000, "ms"),
    ]


async def _scraped(served: Served) -> int:
    headers = {"Authorization": f"Bearer {served.token}"}
    async with (
        aiohttp.ClientSession(served.url, headers=headers) as session,
        session.get("/v1/metrics") as response,
    ):
        text = await response.read()
    assert text.count(b"\nprobe_success{") == MONITORS, text[:500]
    return len(text)


async def _worst(served: Served, waits: list[float]) -> None:
    """How long /healthz takes beside it."""
    async with aiohttp.ClientSession(served.url) as session:
        while True:
            before = time.monotonic()
            async with session.get("/healthz") as response:
                await response.read()
            waits.append(time.monotonic() - before)
            await asyncio.sleep(0.005)


if __name__ == "__main__":
    for figure in run():
        print(figure)
