"""When a location begins to fail the others are asked at once; once, and not without bounds."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from collector.evaluation.second_opinions import SAVED_UP, Opinions
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.results import Run, Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

UP, DOWN = Status.UP, Status.DOWN


class Clock:
    """The real time, and so much."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def now(self) -> datetime:
        return utc_now() + self.ahead


def opinions(world: World, clock: Clock | None = None) -> Opinions:
    return Opinions(world.db, Signals(world.db), clock=GivenClock((clock or Clock()).now))


async def asked(world: World) -> list[tuple[int, int]]:
    """Monitors and locations of the checks that were asked for, and not asked for before this."""
    rows = await world.fetch("DELETE FROM signals WHERE kind = 'run' RETURNING payload")
    found: list[dict[str, Any]] = [row["payload"] for row in rows]
    assert all(item["run"] == Run.SECOND_OPINION and item["session"] == world.session for item in found)
    return sorted((item["monitor"], item["location"]) for item in found)


async def submit(world: World, ask: Opinions, *statuses: Status, monitor: int, location: str) -> None:
    async with writing(world, opinions=ask) as writer:
        await writer.submit(world.batch(*statuses, monitor=monitor, location=location))
    await ask.turn()


async def test_the_first_failed_check_asks_the_other_locations_and_the_next_ones_do_not(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    [monitor] = world.monitors
    ask = opinions(world)
    await submit(world, ask, UP, monitor=monitor, location="eu")
    assert await asked(world) == []
    await submit(world, ask, DOWN, monitor=monitor, location="eu")
    assert await asked(world) == sorted((monitor, world.locations[place]) for place in ("us", "ap"))
    await submit(world, ask, DOWN, DOWN, monitor=monitor, location="eu")
    assert await asked(world) == []


async def test_who_was_asked_and_fails_too_asks_nobody_again_at_once(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    [monitor] = world.monitors
    clock = Clock()
    ask = opinions(world, clock)
    await submit(world, ask, DOWN, monitor=monitor, location="eu")
    await asked(world)
    await submit(world, ask, DOWN, monitor=monitor, location="us")
    assert await asked(world) == []
    clock.ahead = timedelta(seconds=6)
    await submit(world, ask, UP, DOWN, monitor=monitor, location="us")
    assert await asked(world) == []  # it was in trouble before
    await submit(world, ask, DOWN, monitor=monitor, location="ap")
    assert await asked(world) == []  # and so is everybody by now


async def test_where_one_location_has_been_failing_for_long_the_trouble_of_another_asks_the_rest(
    db: Db,
) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    [monitor] = world.monitors
    clock = Clock()
    ask = opinions(world, clock)
    await submit(world, ask, DOWN, DOWN, DOWN, monitor=monitor, location="eu")
    await asked(world)
    clock.ahead = timedelta(minutes=5)
    await submit(world, ask, DOWN, monitor=monitor, location="us")
    assert await asked(world) == [(monitor, world.locations["ap"])]


async def test_one_without_other_locations_and_parents_asks_nobody(db: Db) -> None:
    world = await make_world(db)
    ask = opinions(world)
    await submit(world, ask, DOWN, monitor=world.monitors[0], location="local")
    assert await asked(world) == []


async def test_a_child_that_begins_to_fail_has_its_parents_checked(db: Db) -> None:
    world = await make_world(db, monitors=3)
    parent, paused, child = world.monitors
    parents = [world.ids[parent], world.ids[paused]]
    await world.run("UPDATE monitors SET depends_on = $1 WHERE monitor = $2", parents, child)
    await world.run("UPDATE monitors SET paused_at = now() WHERE monitor = $1", paused)
    await submit(world, opinions(world), DOWN, monitor=child, location="local")
    assert await asked(world) == [(parent, world.locations["local"])]


@pytest.mark.oldest
async def test_a_parent_that_comes_up_has_those_checked_that_were_down_with_it(db: Db) -> None:
    world = await make_world(db, monitors=3)
    parent, down, well = world.monitors
    await world.run("UPDATE monitors SET depends_on = $1 WHERE monitor <> $2", [world.ids[parent]], parent)
    ask = opinions(world)
    for monitor in (parent, down):
        await submit(world, ask, DOWN, DOWN, DOWN, monitor=monitor, location="local")
    await asked(world)
    await submit(world, ask, UP, monitor=parent, location="local")
    assert await asked(world) == [(down, world.locations["local"])]
    assert well not in {monitor for monitor, _ in await asked(world)}


async def test_nobody_is_asked_whose_probe_is_gone(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    [monitor] = world.monitors
    await world.run("UPDATE probes SET ended_at = now()")
    await submit(world, opinions(world), DOWN, monitor=monitor, location="eu")
    assert await asked(world) == []


async def test_an_outage_of_everything_asks_no_more_than_it_may(db: Db) -> None:
    world = await make_world(db, monitors=SAVED_UP + 100, locations=("eu", "us"))
    eu = world.locations["eu"]
    keys = [(monitor, eu) for monitor in world.monitors]
    ask = opinions(world)
    async with writing(world, opinions=ask) as writer:
        await writer.submit(world.batch_of(keys, [DOWN] * len(keys)))
    await ask.turn()
    assert len(await asked(world)) == SAVED_UP
