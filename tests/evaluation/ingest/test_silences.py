"""What a location said before it fell silent opens nothing when it is back, until it has checked again."""

from datetime import timedelta

import pytest

from collector.platform.storage.db import Db
from shared.results import Status
from tests.evaluation.world import World, make_world, writing

UP, DOWN, UNKNOWN = Status.UP, Status.DOWN, Status.UNKNOWN
MINUTE = timedelta(minutes=1)


async def failed_before(world: World, ago: timedelta) -> None:
    """Whatever was measured so far was measured that much earlier."""
    await world.run("UPDATE results SET ts = ts - $1::interval", ago)
    await world.run("UPDATE states SET last_at = last_at - $1::interval", ago)


async def is_down(world: World) -> bool:
    return bool(await world.value("SELECT down FROM monitors"))


async def test_a_location_that_is_back_fails_the_monitor_only_by_a_new_check(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await failed_before(world, 60 * MINUTE)
        await writer.submit(world.batch(UP, location="ap"))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us"))
        assert not await is_down(world)
        await writer.submit(world.batch(UNKNOWN, UNKNOWN, location="eu"))
        await writer.submit(world.batch(DOWN, location="us"))
        assert not await is_down(world)
        await writer.submit(world.batch(DOWN, location="eu"))
        assert await is_down(world)
    assert await world.value("SELECT count(*) FROM incidents") == 1


@pytest.mark.parametrize(
    ("interval_s", "ago", "votes"),
    [
        pytest.param(60, 1.9 * MINUTE, True, id="a silence of less than two minutes"),
        pytest.param(60, 2.1 * MINUTE, False, id="a silence of more"),
        pytest.param(86400, 600 * MINUTE, True, id="it would not have checked meanwhile anyway"),
        pytest.param(300, 6 * MINUTE, False, id="it would have checked meanwhile"),
    ],
)
async def test_how_old_a_check_may_be_to_vote(
    db: Db, interval_s: int, ago: timedelta, *, votes: bool
) -> None:
    world = await make_world(db, locations=("eu", "us"))
    await world.run("UPDATE monitors SET interval_s = $1", interval_s)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await failed_before(world, ago)
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us"))
    assert await is_down(world) is votes


async def test_a_check_that_said_nothing_takes_no_vote_away(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, UNKNOWN, location="eu"))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us"))
    assert await is_down(world)


async def test_a_blind_location_goes_on_failing_while_it_votes(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await failed_before(world, MINUTE)
        await world.run("UPDATE probes SET blind_since = now() - interval '30 seconds'")
        await writer.submit(world.batch(UNKNOWN, location="eu"))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us"))
    assert await is_down(world)


async def test_nobody_vouches_by_what_was_before_a_silence(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    await world.run("UPDATE monitors SET quorum = 'any'")
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, location="us"))
        await failed_before(world, 60 * MINUTE)
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await world.run("UPDATE states SET probe_id = NULL WHERE location = $1", world.locations["eu"])
        await world.run("UPDATE states SET fails = 1 WHERE location = $1", world.locations["us"])
        await writer.submit(world.batch(UNKNOWN, location="us"))
        assert await is_down(world)
        await writer.submit(world.batch(UP, location="us"))
        assert not await is_down(world)


async def test_what_is_down_stays_so_while_those_that_failed_are_not_back_at_work(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us"))
        await failed_before(world, 60 * MINUTE)
        await writer.submit(world.batch(DOWN, UP, location="ap"))
        assert await is_down(world)
        await writer.submit(world.batch(UP, location="us"))
        assert not await is_down(world)


async def test_late_good_checks_neither_end_an_outage_nor_let_the_old_one_open_a_new_one(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await writer.submit(world.batch(UP, location="eu", ago=MINUTE))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us"))
        assert not await is_down(world)
        await writer.submit(world.batch(DOWN, location="eu"))
        assert await is_down(world)
