"""A machine's clock is set while its collector works: nothing is lost, misplaced or held."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from collector.history.jobs.days import DayPartitions
from collector.history.jobs.rollups import Rollups
from collector.history.storage import rollups
from collector.ops.jobs.retention import Retention
from collector.platform.clock_guard import ClockGuard
from collector.platform.database_clock import DatabaseClock
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.loop import forever
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing
from tests.probes.ground import eventually

DAY, HOUR, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)
KEEP = 5 * DAY


class Machine:
    """One whose clock NTP, or somebody, sets; and the parts of a collector that delete, roll up or lease."""

    def __init__(self, db: Db) -> None:
        self.ahead = timedelta()
        self.tries: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.clock = DatabaseClock(db, wall=lambda: utc_now() + self.ahead)
        agreed = self.clock.agreed
        self.turns: dict[str, Callable[[], Awaitable[bool]]] = {
            "clock": self.clock.turn,
            "days": DayPartitions(db, keep=KEEP, clock=GivenClock(self.clock.now, agreed=agreed)).turn,
            "rollups": Rollups(db, clock=GivenClock(agreed)).turn,
            "retention": Retention(db, keep=KEEP, keep_rollups=KEEP, now=agreed).turn,
        }

    async def turn(self, name: str) -> bool:
        self.tries[name] += 1
        more = await self.turns[name]()
        self.ends[name] += 1
        return more

    @asynccontextmanager
    async def works(self) -> AsyncIterator[None]:
        await self.clock.turn()
        rest = timedelta(milliseconds=20)
        tasks = [
            asyncio.create_task(forever(name, lambda name=name: self.turn(name), rest))  # type: ignore[misc]
            for name in self.turns
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def each_turned(self, counter: Counter[str], times: int) -> None:
        """Wait until each part has gone on so often."""
        wanted = {name: counter[name] + times for name in self.turns}

        async def done() -> bool:
            return all(counter[name] >= count for name, count in wanted.items())

        await eventually(done)


async def history(db: Db) -> World:
    """What is kept by now, and would be too old or not over yet by a clock that is days off."""
    world = await make_world(db)
    async with db.transaction() as tx:
        await rollups.done(tx, utc_now().replace(minute=0, second=0, microsecond=0) - HOUR)
    monitor = world.monitors[0]
    await world.run(
        "INSERT INTO outages VALUES ($1, 0, now() - interval '2 days', now() - interval '1 day')", monitor
    )
    await world.run("INSERT INTO ping_bodies VALUES ($1, now() - interval '1 day', 1, 'text')", monitor)
    await world.run("INSERT INTO errors (text, seen_at) VALUES ('lately', now() - interval '1 day')")
    await world.run(
        "INSERT INTO result_gaps VALUES (gen_random_uuid(), 1, 1, 1, 1, 'full', now() - interval '1 day')"
    )
    return world


async def kept(world: World) -> dict[str, int]:
    tables = ("results", "outages", "ping_bodies", "errors", "result_gaps")
    return {table: await world.value(f"SELECT count(*) FROM {table}") for table in tables}


@pytest.mark.parametrize("step", [40 * DAY, -40 * DAY, 2 * HOUR, -2 * HOUR, 61 * SECOND])
async def test_a_step_and_the_step_back(db: Db, step: timedelta) -> None:
    world, machine = await history(db), Machine(db)
    steady = ClockGuard(machine.clock)
    async with machine.works(), writing(world, now=machine.clock.now) as writer:
        for machine.ahead in (timedelta(), step, timedelta(), step, timedelta()):
            await writer.submit(world.batch(Status.UP, now=machine.clock.now()))
            counter = machine.tries if machine.ahead else machine.ends
            await machine.each_turned(counter, 3)
    assert await kept(world) == {
        "results": 5, "outages": 1, "ping_bodies": 1, "errors": 1, "result_gaps": 1,
    }  # fmt: skip
    assert steady.trusted_since() is not None, "nobody's silence is in doubt"
    assert await world.value("SELECT max(now() - ts) < interval '1 hour' AND max(ts) <= now() FROM results")
    assert await world.value("SELECT count(*) FROM results_default") == 0
    assert await world.value("SELECT until <= now() FROM rollups_done")
    assert await world.value("SELECT bool_and(until < now() + interval '1 hour') FROM leases")


async def test_a_little_is_no_reason_to_stop(db: Db) -> None:
    await history(db)
    machine = Machine(db)
    async with machine.works():
        for machine.ahead in (50 * SECOND, -50 * SECOND):
            await machine.each_turned(machine.ends, 2)
