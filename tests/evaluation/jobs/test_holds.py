"""The end of a hold: an outage that lasts is announced then, once, unless it was announced before."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

from collector.evaluation.jobs.holds import Holds
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

UP, DOWN = Status.UP, Status.DOWN
HOUR = timedelta(hours=1)


def holds(world: World, ahead: timedelta = timedelta()) -> Holds:
    def now() -> datetime:
        return utc_now() + ahead

    return Holds(world.db, clock=GivenClock(now))


async def turn(world: World, ahead: timedelta) -> None:
    """Of the sweeper, so much later, when the probes are still heard."""
    await world.run("UPDATE probes SET seen_at = now() + $1::interval", ahead)
    await holds(world, ahead).turn()


async def silence(world: World) -> None:
    await world.run("UPDATE monitors SET silenced_until = now() + interval '1 hour'")


async def submit(world: World, *statuses: Status) -> None:
    async with writing(world) as writer:
        await writer.submit(world.batch(*statuses))


async def events(world: World) -> list[dict[str, Any]]:
    rows = await world.fetch(
        "SELECT payload FROM events WHERE kind LIKE 'monitor.%' ORDER BY stream_id, sequence"
    )
    return [row["payload"] for row in rows]


async def test_a_silence_that_ends_over_an_outage_tells_it_then(db: Db) -> None:
    world = await make_world(db)
    await silence(world)
    await submit(world, DOWN, DOWN, DOWN, DOWN)
    await holds(world).turn()
    assert await events(world) == []
    await turn(world, HOUR * 2)
    [event] = await events(world)
    assert event["event"] == "monitor.down"
    assert event["incident"]["consecutiveFailures"] == 4
    assert event["incident"]["lastError"] == "connect: refused by 127.0.0.1:1"
    assert event["incident"]["downtime"] >= 7200
    assert world.told == 2  # of the incident, and of this
    await turn(world, HOUR * 2)
    assert len(await events(world)) == 1


async def test_a_silence_that_somebody_ends_is_over_at_once(db: Db) -> None:
    world = await make_world(db)
    await silence(world)
    await submit(world, DOWN, DOWN, DOWN)
    await world.run("UPDATE monitors SET silenced_until = NULL")
    await holds(world).turn()
    assert [event["event"] for event in await events(world)] == ["monitor.down"]


async def test_an_outage_that_ended_within_the_silence_is_told_to_nobody(db: Db) -> None:
    world = await make_world(db)
    await silence(world)
    await submit(world, DOWN, DOWN, DOWN, UP)
    await turn(world, HOUR * 2)
    assert await events(world) == []


async def test_what_was_told_before_the_silence_is_not_told_again_after_it(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await silence(world)
    await submit(world, DOWN)
    await turn(world, HOUR * 2)
    assert [event["event"] for event in await events(world)] == ["monitor.down"]


async def test_whose_incident_was_resolved_by_hand_is_neither_told_of_it_nor_of_its_end(db: Db) -> None:
    world = await make_world(db)
    await silence(world)
    await submit(world, DOWN, DOWN, DOWN)
    await world.run("UPDATE incidents SET status = 'resolved', resolved_at = now(), resolved_by = '{}'")
    await turn(world, HOUR * 2)
    await submit(world, UP)
    assert await events(world) == []


async def test_a_paused_monitor_waits_for_its_resume(db: Db) -> None:
    world = await make_world(db)
    await silence(world)
    await submit(world, DOWN, DOWN, DOWN)
    await world.run("UPDATE monitors SET paused_at = now()")
    await turn(world, HOUR * 2)
    assert await events(world) == []
    await world.run("UPDATE monitors SET paused_at = NULL")
    await turn(world, HOUR * 2)
    assert [event["event"] for event in await events(world)] == ["monitor.down"]


async def test_of_several_sweepers_and_a_writer_one_tells_it(db: Db) -> None:
    world = await make_world(db, monitors=150)
    keys = sorted(world.assignments)
    await silence(world)
    async with writing(world) as writer:
        await asyncio.gather(*[writer.submit(world.batch_of(keys, [DOWN] * len(keys))) for _ in range(3)])
        await world.run("UPDATE monitors SET silenced_until = NULL")
        await asyncio.gather(
            *[holds(world).turn() for _ in range(5)],
            *[writer.submit(world.batch_of(keys, [DOWN] * len(keys))) for _ in range(3)],
        )
    while await holds(world).turn():
        pass
    assert await world.value("SELECT count(*) FROM events WHERE kind = 'monitor.down'") == 150
    assert await world.value("SELECT max(sequence) FROM streams") == 2
