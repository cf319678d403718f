"""What changes with time alone: a verdict that no result brings is found all the same, and none invented."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from collector.evaluation.jobs.recheck import Verdicts
from collector.platform.clock_guard import ClockGuard
from collector.platform.storage.db import Db
from shared.clock import boot_us, utc_now
from shared.ids import uuid7
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

UP, DOWN = Status.UP, Status.DOWN
SECOND = timedelta(seconds=1)


def verdicts(world: World, started_at: datetime | None = None) -> Verdicts:
    started_at = started_at or utc_now() - timedelta(hours=1)
    return Verdicts(world.db, clock=GivenClock(utc_now, lambda: started_at))


async def told(world: World) -> list[str]:
    rows = await world.fetch(
        "SELECT kind FROM events WHERE kind LIKE 'monitor.%' ORDER BY stream_id, sequence"
    )
    return [row["kind"] for row in rows]


async def lose(world: World, place: str, ago: timedelta) -> None:
    """Another probe has this location, and was heard that long ago."""
    probe_id = uuid7()
    await world.run(
        """
        INSERT INTO probes (probe_id, name, locations, seen_at, created_at)
        VALUES ($1, 'lost', ARRAY[$2], now() - $3::interval, now())
        """,
        probe_id,
        place,
        ago,
    )
    await world.run("UPDATE states SET probe_id = $1 WHERE location = $2", probe_id, world.locations[place])


async def test_an_outage_confirmed_while_the_collector_settled_opens_without_another_check(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    await lose(world, "ap", timedelta(seconds=20))
    started_at = utc_now() - SECOND
    await world.run("UPDATE probes SET seen_at = now() WHERE probe_id = $1", world.probe_id)
    async with writing(world, since=lambda: started_at) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us", error="tls: expired"))
    await verdicts(world, started_at).turn()
    assert await told(world) == []
    await verdicts(world, started_at - 30 * SECOND).turn()
    assert await told(world) == ["monitor.down"]
    assert world.told == 1
    [incident] = await world.fetch("SELECT failure_count, last_error, started_at FROM incidents")
    assert (incident["failure_count"], incident["last_error"]) == (6, "connect: refused by 127.0.0.1:1")
    assert incident["started_at"] == await world.value("SELECT min(ts) FROM results")
    await verdicts(world).turn()
    assert await told(world) == ["monitor.down"]


async def test_a_location_that_came_back_in_time_settles_it(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    await lose(world, "ap", timedelta(seconds=20))
    started_at = utc_now() - SECOND
    await world.run("UPDATE probes SET seen_at = now()")
    async with writing(world, since=lambda: started_at) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us"))
    assert await told(world) == ["monitor.down"]


async def test_the_bar_falls_when_a_silent_location_has_been_so_for_long(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    await lose(world, "us", timedelta(seconds=100))
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
    await verdicts(world).turn()
    assert await told(world) == []
    await world.run("UPDATE probes SET seen_at = now() - interval '3 minutes' WHERE name = 'lost'")
    await verdicts(world).turn()
    assert await told(world) == ["monitor.down"]


async def test_a_monitor_whose_only_failing_location_is_gone_is_up_once_another_vouches(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    await world.run("UPDATE monitors SET quorum = 'any'")
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await world.run("DELETE FROM states WHERE location = $1", world.locations["eu"])
        await verdicts(world).turn()
        assert await told(world) == ["monitor.down"]  # nothing is known of the other one yet
        await writer.submit(world.batch(UP, location="us"))
        await verdicts(world).turn()
    assert await told(world) == ["monitor.down", "monitor.up"]
    assert await world.value("SELECT status FROM incidents") == "resolved"


async def test_with_no_voters_nothing_changes(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    await world.run("UPDATE states SET failing = false")
    await world.run("UPDATE probes SET seen_at = now() - interval '3 minutes'")
    await verdicts(world).turn()
    assert await told(world) == ["monitor.down"]


async def test_a_paused_monitor_is_left_alone(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    await world.run("UPDATE states SET failing = false")
    await world.run("UPDATE monitors SET paused_at = now()")
    await verdicts(world).turn()
    assert await told(world) == ["monitor.down"]


@pytest.mark.parametrize("step", [timedelta(hours=1), timedelta(hours=-1)])
async def test_a_step_of_our_clock_neither_opens_nor_ends_anything_and_freezes_nothing(
    db: Db, step: timedelta
) -> None:
    world = await make_world(db, locations=("eu", "us"))
    await lose(world, "us", timedelta())
    clocks = Clocks()
    steady = ClockGuard(GivenClock(clocks.now), boot_us=clocks.boot_us)

    async def heard(name: str, ago: timedelta) -> None:
        sql = "UPDATE probes SET seen_at = $2::timestamptz - $3::interval WHERE name = $1"
        await world.run(sql, name, clocks.now(), ago)

    async with writing(world, now=clocks.now, since=steady.trusted_since) as writer:
        await writer.submit(world.batch(UP, location="eu"))
        clocks.wall += step
        await heard("probe", timedelta())  # the other one has said nothing under the new time yet
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu", now=clocks.now()))
        clocks.wall += 31 * SECOND
        clocks.boot += 31 * SECOND
        await heard("probe", timedelta())
        await heard("lost", 100 * SECOND)
        await writer.submit(world.batch(DOWN, location="eu", now=clocks.now()))
        assert await told(world) == []
        await heard("lost", 2 * step)  # that was before the clock was set, or long ago
        await writer.submit(world.batch(DOWN, location="eu", now=clocks.now()))
    assert await told(world) == ["monitor.down"]


@dataclass(slots=True)
class Clocks:
    """Wall and boot clock, each ahead of the real one by so much."""

    wall: timedelta = timedelta()
    boot: timedelta = timedelta()

    def now(self) -> datetime:
        return utc_now() + self.wall

    def boot_us(self) -> int:
        return boot_us() + self.boot // timedelta(microseconds=1)


def test_slow_corrections_and_pauses_are_no_steps() -> None:
    clocks = Clocks()
    steady = ClockGuard(GivenClock(clocks.now), boot_us=clocks.boot_us)
    begun = steady.trusted_since()
    for _ in range(100):
        clocks.boot += timedelta(hours=1)
        clocks.wall += timedelta(hours=1, seconds=-2)
        assert steady.trusted_since() == begun


async def test_what_was_down_twice_is_not_counted_twice(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    async with writing(world) as writer:
        for place in ("eu", "us"):
            await writer.submit(world.batch(DOWN, DOWN, DOWN, location=place, ago=20 * SECOND))
        await writer.submit(world.batch(UP, location="us", ago=11 * SECOND))
        [first] = await world.fetch("SELECT spans_s, resolved_at FROM incidents")
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us", ago=5 * SECOND))
        [again] = await world.fetch("SELECT spans_s, span_from FROM incidents")
        assert again["span_from"] >= first["resolved_at"]
        await writer.submit(world.batch(UP, location="us", ago=SECOND))
    [ended] = await world.fetch("SELECT spans_s, resolved_at - started_at AS lasted FROM incidents")
    assert ended["spans_s"] <= ended["lasted"].total_seconds()


async def test_an_outage_does_not_begin_with_the_old_trouble_of_one_location(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await world.run("UPDATE states SET failed_since = failed_since - interval '2 days' WHERE failing")
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us"))
    [incident] = await world.fetch("SELECT started_at FROM incidents")
    first = await world.value("SELECT min(ts) FROM results WHERE location = $1", world.locations["us"])
    assert incident["started_at"] == first
    [event] = await world.fetch("SELECT payload FROM events WHERE kind = 'monitor.down'")
    assert event["payload"]["incident"]["downtime"] < 60


async def test_what_was_resolved_by_hand_is_not_resolved_again(db: Db) -> None:
    world = await make_world(db)
    by_hand: dict[str, Any] = {"id": "usr_1", "name": "operator"}
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await world.run(
            "UPDATE incidents SET status = 'resolved', resolved_at = now(), resolved_by = $1", by_hand
        )
        await writer.submit(world.batch(UP))
    assert await told(world) == ["monitor.down", "monitor.up"]
    entries = [row["type"] for row in await world.fetch("SELECT type FROM timeline ORDER BY n")]
    assert "resolved" not in entries
    assert world.told == 2
