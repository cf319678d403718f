"""What alert rules cost at 1,000 results a second and 1,000 rules: ``python -m tests.bench.rules``."""

import asyncio
import statistics
from collections.abc import Iterator, Sequence
from datetime import timedelta

import psutil
import uvloop

from collector.alerts.jobs.evaluator import Evaluator
from collector.alerts.jobs.watch import Watch
from collector.alerts.service import rules
from collector.evaluation.writer import ResultWriter
from collector.platform.access import Actor
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.loop import forever
from shared.results import Status
from tests.bench.database import database
from tests.bench.figures import Figure
from tests.bench.writer import cpu_s
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world

MONITORS = 1_000
SECONDS = 20
RUNS = 3
_CONDITIONS: Sequence[dict[str, object]] = (
    {"consecutiveFailures": 5},
    {"latencyThresholdMs": 800},
    {"errorRatePercent": 50, "windowMinutes": 5},
    {"consecutiveFailures": 3, "latencyThresholdMs": 800, "statusCode": 503},
)


def run() -> Iterator[Figure]:
    """The share of a CPU, PostgreSQL's part included, that rules add; 2 % of the checks fail."""
    share = uvloop.run(_measure())
    yield Figure("rules, at 1,000 results/s and 1,000 rules", share, "% of a CPU", at_most=5)


async def _measure() -> float:
    async with database() as db:
        return await _share(db)


async def _share(db: Db) -> float:
    """With rules less without them, second by second in turns."""
    world = await make_world(db, monitors=MONITORS)
    # What was measured before a change of a monitor is history, and a second's results are handed in at once.
    await world.run("UPDATE monitors SET updated_at = updated_at - interval '1 day', interval_s = 1")
    await _make_rules(world)
    server = psutil.Process(await world.value("SELECT pg_backend_pid()")).parent()
    assert server is not None
    found: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(RUNS + 1):
        for ruled in (True, False):
            before = cpu_s(server)
            await _seconds(world, ruled=ruled)
            found[ruled].append((cpu_s(server) - before) / SECONDS)
    assert await world.value("SELECT count(*) FROM alerts") > 0
    with_rules, without = (statistics.median(found[ruled][1:]) for ruled in (True, False))
    return 100 * (with_rules - without)


async def _make_rules(world: World) -> None:
    who = Actor(world.team_id, None, "Bench")
    for number, id_ in enumerate(world.ids.values()):
        body = {
            "name": f"Rule {number}",
            "conditions": _CONDITIONS[number % len(_CONDITIONS)],
            "monitors": [ids.show("mon", id_)],
        }
        await rules.create(world.db, who, body, utc_now())


async def _seconds(world: World, *, ruled: bool) -> None:
    """What some seconds bring, as fast as it goes."""
    since = utc_now() - timedelta(hours=1)
    watch = Watch(world.db)
    if ruled:
        await watch.turn()
    writer = ResultWriter(world.db, clock=GivenClock(utc_now, lambda: since), watch=watch)
    evaluator = Evaluator(world.db, now=utc_now)
    task = asyncio.create_task(forever("writer", writer.turn, timedelta(milliseconds=10)))
    keys = sorted(world.assignments)
    for second in range(SECONDS):
        # One of a hundred is down all the while, and one now and then.
        failing = [n % 100 == 0 or (n * 7 + second) % 100 == 1 for n in range(len(keys))]
        statuses = [Status.DOWN if fails else Status.UP for fails in failing]
        await writer.submit(world.batch_of(keys, statuses))
        if ruled:
            await watch.turn()
            await evaluator.turn()
    task.cancel()


if __name__ == "__main__":
    for figure in run():
        print(figure)
