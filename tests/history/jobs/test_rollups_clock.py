"""Every result is in the rollups, also when hours were rolled up by a clock that was ahead of them."""

from datetime import timedelta

import pytest

from collector.evaluation.ingest.pushes import PushedResult, Pushes
from collector.history.jobs.rollups import Rollups
from collector.history.storage import rollups
from collector.platform.database_clock import DatabaseClock
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import Unavailable
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
# In truth, and some hours from any midnight that the test could reach.
TRUE = utc_now().replace(minute=20, second=0, microsecond=0)


async def roll(roller: Rollups) -> None:
    while await roller.turn():
        pass


async def counted(world: World) -> int:
    return int(await world.value("SELECT coalesce(sum(checks), 0) FROM rollups_hour WHERE location = 0"))


async def prepare(db: Db) -> World:
    world = await make_world(db)
    async with db.transaction() as tx:
        await rollups.done(tx, TRUE.replace(minute=0) - HOUR)
    return world


async def check(world: World, minutes: range) -> None:
    """A check a minute."""
    clock = [TRUE]
    async with writing(world, now=lambda: clock[0]) as writer:
        for minute in minutes:
            clock[0] = TRUE + minute * MINUTE
            await writer.submit(world.batch(Status.UP, now=clock[0]))


@pytest.mark.parametrize("ahead", [2 * HOUR + 10 * MINUTE, 26 * HOUR])
@pytest.mark.parametrize("rolls_on", [True, False])
async def test_hours_that_were_rolled_up_before_they_came(
    db: Db, ahead: timedelta, *, rolls_on: bool
) -> None:
    """The machine boots with its clock ahead, and it is set right: at once, or before the next turn."""
    world = await prepare(db)
    clock = [TRUE + ahead]
    roller = Rollups(db, clock=GivenClock(lambda: clock[0]))
    await roll(roller)
    assert await world.value("SELECT until FROM rollups_done") > TRUE
    clock[0] = TRUE
    if rolls_on:
        await roll(roller)
        assert await world.value("SELECT until FROM rollups_done") == TRUE.replace(minute=0)
    await check(world, range(1, 110))
    clock[0] = TRUE + ahead + 4 * HOUR
    await roll(roller)
    assert await counted(world) == await world.value("SELECT count(*) FROM results") == 109
    assert await world.value("SELECT count(*) FROM rollups_dirty") == 0


async def test_two_collectors_whose_clocks_are_minutes_apart(db: Db) -> None:
    """The faster one rolls an hour up while the slower one still writes into it."""
    world = await prepare(db)
    fast = [TRUE]
    roller = Rollups(db, clock=GivenClock(lambda: fast[0]))
    async with writing(world, now=lambda: fast[0] - 5 * MINUTE) as writer:
        for minute in range(30, 60):
            fast[0] = TRUE + minute * MINUTE
            await roll(roller)
            await writer.submit(world.batch(Status.UP, now=fast[0] - 5 * MINUTE))
    fast[0] = TRUE + 2 * HOUR
    await roll(roller)
    assert await counted(world) == 30


async def test_results_without_a_probe_are_counted_likewise(db: Db) -> None:
    world = await prepare(db)
    clock = [TRUE + 2 * HOUR + 10 * MINUTE]
    roller = Rollups(db, clock=GivenClock(lambda: clock[0]))
    await roll(roller)
    pushes = Pushes(db, clock=GivenClock(lambda: TRUE, lambda: None))
    pushed = PushedResult(world.monitors[0], Status.UP, TRUE - MINUTE)
    async with db.transaction() as tx:
        await pushes.write(tx, [pushed])
    assert await world.value("SELECT at FROM rollups_dirty") == TRUE.replace(minute=0)


async def test_an_outage_in_hours_that_were_rolled_up_before_they_came(db: Db) -> None:
    world = await prepare(db)
    clock = [TRUE + 2 * HOUR + 10 * MINUTE]
    roller = Rollups(db, clock=GivenClock(lambda: clock[0]))
    await roll(roller)
    async with writing(world, now=lambda: TRUE) as writer:
        await writer.submit(world.batch(*[Status.DOWN] * 3, now=TRUE))
    assert await world.value("SELECT count(*) FROM outages") > 0
    marks = await world.fetch("SELECT DISTINCT at FROM rollups_dirty ORDER BY at")
    assert [row["at"] for row in marks] == [TRUE.replace(minute=0), TRUE.replace(minute=0) + HOUR]


async def test_nothing_is_rolled_up_while_clocks_disagree(db: Db) -> None:
    await prepare(db)
    clock = DatabaseClock(db, wall=lambda: utc_now() - HOUR)
    await clock.turn()
    with pytest.raises(Unavailable, match="more than a minute apart"):
        await Rollups(db, clock=GivenClock(clock.agreed)).turn()
