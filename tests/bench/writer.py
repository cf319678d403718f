"""From decoded batches to committed transactions, PostgreSQL included: ``python -m tests.bench.writer``."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta

import psutil
import uvloop

from collector.evaluation.writer import ResultWriter, Submission
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.loop import forever
from shared.results import Status
from tests.bench.database import database
from tests.bench.figures import Figure
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world

MONITORS = 1_000
LOCATIONS = ("eu", "us", "ap", "sa", "af")
BATCH = 1_000
ROUNDS = 8
RUNS = 5
IN_FLIGHT = 8


def run() -> Iterator[Figure]:
    """Results per CPU-second of this process and of all of PostgreSQL's, 2 % of them failing."""
    rates = uvloop.run(_measure())
    yield Figure("writer, PostgreSQL included", statistics.median(rates), "results per CPU-second", 60_000)


async def _measure() -> list[float]:
    async with database() as db:
        return await _rates(db)


async def _rates(db: Db) -> list[float]:
    async with writing(db) as (rate, _):
        return [await rate() for _ in range(RUNS + 1)][1:]


@asynccontextmanager
async def writing(db: Db) -> AsyncIterator[tuple[Callable[[], Awaitable[float]], psutil.Process]]:
    """Yield a measurement of one run, and the server; at the end all results must be stored."""
    world = await make_world(db, monitors=MONITORS, locations=LOCATIONS)
    since = utc_now() - timedelta(hours=1)
    writer = ResultWriter(db, clock=GivenClock(utc_now, lambda: since))
    task = asyncio.create_task(forever("writer", writer.turn, timedelta(milliseconds=10)))
    postmaster = await world.value("SELECT pg_backend_pid()")
    server = psutil.Process(postmaster).parent()
    assert server is not None
    done = 0

    async def rate() -> float:
        nonlocal done
        batches = list(_batches(world, done))
        done += 1
        before = cpu_s(server)
        slots = asyncio.Semaphore(IN_FLIGHT)
        await asyncio.gather(*[_submit(writer, slots, batch) for batch in batches])
        spent = cpu_s(server) - before
        return sum(len(submission.batch.monitor) for submission in batches) / spent

    yield rate, server
    task.cancel()
    assert await world.value("SELECT count(*) FROM results") == done * ROUNDS * MONITORS * len(LOCATIONS)


async def _submit(writer: ResultWriter, slots: asyncio.Semaphore, batch: Submission) -> None:
    async with slots:
        assert await writer.submit(batch)


def _batches(world: World, number: int) -> Iterator[Submission]:
    """A minute of results of all monitors at all locations, a few times over."""
    now = utc_now() - timedelta(hours=2) + timedelta(minutes=number * ROUNDS)
    keys = sorted(world.assignments, key=lambda key: (key[1], key[0]))
    for round_ in range(ROUNDS):
        for start in range(0, len(keys), BATCH):
            part = keys[start : start + BATCH]
            statuses = [Status.DOWN if (monitor * 7 + round_) % 50 == 0 else Status.UP for monitor, _ in part]
            yield world.batch_of(part, statuses, now=now + timedelta(minutes=round_))


def cpu_s(server: psutil.Process) -> float:
    """CPU seconds so far of this process and of the server with all its children."""
    spent = time.process_time()
    for process in (server, *server.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        spent += times.user + times.system
    return spent


if __name__ == "__main__":
    for figure in run():
        print(figure)
