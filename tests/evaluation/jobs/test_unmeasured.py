"""A monitor of which every check is unknown is named once, and once more when it is measured again."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from collector.evaluation.jobs.unmeasured import Unmeasured
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import iso, utc_now
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

UP, DOWN, UNKNOWN = Status.UP, Status.DOWN, Status.UNKNOWN


async def submit(
    world: World, *statuses: Status, location: str = "local", monitor: int | None = None
) -> None:
    async with writing(world) as writer:
        await writer.submit(world.batch(*statuses, location=location, monitor=monitor))


async def events(world: World) -> list[dict[str, Any]]:
    """After a turn of two collectors side by side."""
    await asyncio.gather(*(Unmeasured(world.db, clock=GivenClock(utc_now)).turn() for _ in range(2)))
    rows = await world.fetch(
        "SELECT payload FROM events WHERE kind LIKE 'monitor.%measured' ORDER BY sequence"
    )
    return [row["payload"] for row in rows]


async def kinds(world: World) -> list[str]:
    return [event["event"].removeprefix("monitor.") for event in await events(world)]


async def test_so_many_unknown_checks_as_confirm_a_failure_are_told_once(db: Db) -> None:
    world = await make_world(db)
    await submit(world, UNKNOWN, UNKNOWN)
    assert await events(world) == []
    await submit(world, UNKNOWN)
    [told] = await events(world)
    created = await world.value("SELECT created_at FROM monitors")
    assert told["event"] == "monitor.unmeasured"
    assert told["monitor"]["id"] == ids.show("mon", world.ids[world.monitors[0]])
    assert (told["monitor"]["status"], told["notMeasuredSince"]) == ("up", iso(created))
    await submit(world, UNKNOWN)
    assert len(await events(world)) == 1


@pytest.mark.parametrize("status", [UP, DOWN])
async def test_the_next_check_that_measures_ends_it_and_it_may_begin_again(db: Db, status: Status) -> None:
    world = await make_world(db)
    await submit(world, UNKNOWN, UNKNOWN, UNKNOWN)
    assert await kinds(world) == ["unmeasured"]
    await submit(world, status)
    assert await kinds(world) == ["unmeasured", "measured"]
    await submit(world, UNKNOWN, UNKNOWN, UNKNOWN)
    *_, again = await events(world)
    known = await world.value("SELECT max(ts) FROM results WHERE status <> $1", UNKNOWN)
    assert (again["event"], again["notMeasuredSince"]) == ("monitor.unmeasured", iso(known))


@pytest.mark.oldest
async def test_a_location_that_measures_is_enough(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    await submit(world, UP, location="eu")
    await submit(world, UNKNOWN, UNKNOWN, UNKNOWN, location="us")
    assert await kinds(world) == []
    await submit(world, UNKNOWN, UNKNOWN, UNKNOWN, location="eu")
    assert await kinds(world) == ["unmeasured"]


async def test_of_a_probe_that_is_blind_or_gone_only_its_owner_hears(db: Db) -> None:
    world = await make_world(db)
    await submit(world, UNKNOWN, UNKNOWN, UNKNOWN)
    await world.run("UPDATE probes SET blind_since = now()")
    assert await kinds(world) == []
    await world.run("UPDATE probes SET blind_since = NULL, seen_at = now() - interval '3 minutes'")
    assert await kinds(world) == []
    await world.run("UPDATE probes SET seen_at = now()")
    assert await kinds(world) == ["unmeasured"]


@pytest.mark.parametrize("hold", ["silenced_until = now() + interval '1 hour'", "paused_at = now()"])
async def test_while_its_news_are_held_nothing_is_told(db: Db, hold: str) -> None:
    world = await make_world(db)
    await submit(world, UNKNOWN, UNKNOWN, UNKNOWN)
    await world.run(f"UPDATE monitors SET {hold}")
    assert await kinds(world) == []
    await world.run("UPDATE monitors SET silenced_until = NULL, paused_at = NULL")
    assert await kinds(world) == ["unmeasured"]


async def test_a_job_s_pings_that_say_nothing_of_its_health_are_no_checks(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE monitors SET type = 'heartbeat'")
    await submit(world, UNKNOWN, UNKNOWN, UNKNOWN)
    assert await kinds(world) == []


async def test_many_are_told_each_by_itself(db: Db) -> None:
    world = await make_world(db, monitors=5)
    for monitor in world.monitors:
        await submit(world, UNKNOWN, UNKNOWN, UNKNOWN, monitor=monitor)
    assert len({event["monitor"]["id"] for event in await events(world)}) == 5


async def test_what_was_measured_before_the_search_s_reach_counts_from_its_making(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE monitors SET created_at = $1", utc_now() - timedelta(days=3))
    await submit(world, UNKNOWN, UNKNOWN, UNKNOWN)
    [told] = await events(world)
    assert told["notMeasuredSince"] == iso(await world.value("SELECT created_at FROM monitors"))
