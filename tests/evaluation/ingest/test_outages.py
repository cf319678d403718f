"""Outages begin and end with what is held of a monitor and its locations, and none is left open."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.history.core import hours
from collector.history.storage import outages
from collector.monitors.storage import monitors
from collector.platform.storage.db import Db
from collector.probes.service import assignments
from shared.clock import utc_now
from shared.results import Status
from tests.evaluation.world import World, make_world, writing

UP, DOWN = Status.UP, Status.DOWN
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


async def kept(world: World) -> list[tuple[int, datetime, datetime | None]]:
    rows = await world.fetch("SELECT * FROM outages ORDER BY location, started_at")
    return [(row["location"], row["started_at"], row["ended_at"]) for row in rows]


async def times(world: World, status: Status) -> list[datetime]:
    rows = await world.fetch("SELECT ts FROM results WHERE status = $1 ORDER BY ts", status)
    return [row["ts"] for row in rows]


async def marks(world: World) -> set[tuple[int, datetime]]:
    rows = await world.fetch("SELECT monitor, at FROM rollups_dirty")
    return {(row["monitor"], row["at"]) for row in rows}


async def test_an_outage_lasts_from_the_first_failed_check_to_the_good_one(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, DOWN, DOWN, ago=9 * SECOND))
        assert await kept(world) == []
        await writer.submit(world.batch(DOWN, ago=5 * SECOND))
    [first, *_] = await times(world, DOWN)
    assert await kept(world) == [(0, first, None), (world.locations["local"], first, None)]
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, UP, UP, ago=1 * SECOND))
    good = next(moment for moment in await times(world, UP) if moment > first)
    assert await kept(world) == [(0, first, good), (world.locations["local"], first, good)]


async def test_one_location_has_its_own_outage_before_the_monitor_has_any(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, location="us", ago=9 * SECOND))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu", ago=5 * SECOND))
    assert [location for location, _, _ in await kept(world)] == [world.locations["eu"]]
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="us", ago=2 * SECOND))
        await writer.submit(world.batch(UP, location="us"))
    ended = {location: end is not None for location, _, end in await kept(world)}
    assert ended == {0: True, world.locations["eu"]: False, world.locations["us"]: True}


async def test_outages_within_one_transaction_are_all_kept(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(*[DOWN, DOWN, DOWN, UP] * 3))
    found = await kept(world)
    assert len(found) == 6
    assert all(end is not None for _, _, end in found)


async def test_resolving_the_incident_by_hand_ends_no_outage(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await world.run("UPDATE incidents SET status = 'resolved', resolved_at = now()")
        await writer.submit(world.batch(DOWN))
        assert [end for _, _, end in await kept(world)] == [None, None]
        await writer.submit(world.batch(UP))
    assert None not in [end for _, _, end in await kept(world)]


async def test_a_pause_leaves_it_open_and_the_first_good_check_after_it_ends_it(db: Db) -> None:
    world = await make_world(db)
    key = world.team_id, world.ids[world.monitors[0]]
    now = utc_now()
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, ago=9 * SECOND))
        async with db.transaction() as tx:
            await monitors.pause(tx, *key, 1, now)
        await writer.submit(world.batch(UP, ago=5 * SECOND))
        assert [end for _, _, end in await kept(world)] == [None, None]
        async with db.transaction() as tx:
            await monitors.resume(tx, *key, 1, now + SECOND)
        await writer.submit(world.batch(UP))
    good = (await times(world, UP))[-1]
    assert [end for _, _, end in await kept(world)] == [good, good]
    assert [row["cover_s"] for row in await cadences(world)] == [None, 85]


async def cadences(world: World) -> list[dict[str, Any]]:
    return await world.fetch("SELECT since, cover_s FROM cadences ORDER BY since")


async def change(world: World, **columns: Any) -> None:
    """As an update of the monitor does it."""
    id_ = world.ids[world.monitors[0]]
    now = utc_now()
    async with world.db.transaction() as tx:
        before = await monitors.lock(tx, world.team_id, id_)
        assert before is not None
        after = {name: getattr(before, name) for name in monitors._SET} | columns
        revision = before.revision + 1
        await monitors.save(tx, world.team_id, id_, after, revision, now)
        if before.paused_at is None:
            await assignments.place(tx, before.monitor, revision, after["locations"], now=now)


async def test_a_location_that_is_dropped_takes_its_outage_with_it(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        for place in ("us", "ap"):
            await writer.submit(world.batch(UP, location=place, ago=9 * SECOND))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu", ago=5 * SECOND))
    await change(world, locations=["us", "ap"])
    [(location, _, end)] = await kept(world)
    assert location == world.locations["eu"]
    assert end is not None
    await change(world, locations=["us", "ap"], interval_s=30)
    assert [row["cover_s"] for row in await cadences(world)] == [85, 55]


async def test_one_dropped_during_a_pause_has_its_outage_ended_with_the_pause(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    key = world.team_id, world.ids[world.monitors[0]]
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, location="us", ago=9 * SECOND))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu", ago=5 * SECOND))
    async with db.transaction() as tx:
        await monitors.pause(tx, *key, 2, utc_now())
    await change(world, locations=["us"])
    assert [end for _, _, end in await kept(world)] == [None]
    async with db.transaction() as tx:
        await monitors.resume(tx, *key, 3, utc_now())
    assert [end is None for _, _, end in await kept(world)] == [False]


async def test_results_of_hours_that_are_over_mark_them_and_others_mark_nothing(db: Db) -> None:
    world = await make_world(db, monitors=2)
    now = utc_now().replace(minute=30)
    async with writing(world, now=lambda: now) as writer:
        await writer.submit(world.batch(UP, DOWN, ago=SECOND, now=now))
        assert await marks(world) == set()
        await writer.submit(world.batch(UP, UP, ago=3 * HOUR, now=now))
        await writer.submit(world.batch(UP, ago=5 * HOUR, monitor=world.monitors[1], now=now))
    whole = now.replace(minute=0, second=0, microsecond=0)
    assert await marks(world) == {
        (world.monitors[0], whole - 3 * HOUR),
        (world.monitors[1], whole - 5 * HOUR),
    }


async def test_results_just_after_the_hour_mark_nothing(db: Db) -> None:
    world = await make_world(db)
    now = utc_now().replace(minute=0, second=40, microsecond=0)
    async with writing(world, now=lambda: now) as writer:
        await writer.submit(world.batch(UP, ago=50 * SECOND, now=now))
    assert await marks(world) == set()


async def test_an_outage_that_reaches_back_marks_the_hours_that_are_over(db: Db) -> None:
    world = await make_world(db)
    then = utc_now().replace(minute=30, second=0, microsecond=0)
    whole = then.replace(minute=0)
    monitor = world.monitors[0]
    moments = [then - 2 * HOUR, then]
    async with writing(world, now=lambda: moments[0]) as writer:
        await writer.submit(world.batch(DOWN, DOWN, ago=SECOND, now=moments[0]))
    async with writing(world, now=lambda: moments[1]) as writer:
        await writer.submit(world.batch(DOWN, ago=SECOND, now=moments[1]))
    assert await marks(world) == {(monitor, whole - 2 * HOUR), (monitor, whole - HOUR)}


def test_an_hour_is_over_for_marks_a_minute_before_it_is_rolled_up() -> None:
    whole = utc_now().replace(minute=0, second=0, microsecond=0)
    assert hours.end(whole + 59 * SECOND, None) == whole - HOUR
    assert hours.end(whole + 60 * SECOND, whole - HOUR) == whole
    assert hours.between(whole - SECOND, whole) == [whole - HOUR]
    assert hours.between(whole + HOUR, whole - HOUR) == []


def test_an_hour_that_is_rolled_up_takes_marks_whatever_the_clock_says() -> None:
    whole = utc_now().replace(minute=0, second=0, microsecond=0)
    assert hours.end(whole, whole + 2 * HOUR) == whole + 2 * HOUR


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=12))
async def test_outages_never_overlap_however_their_times_come(
    db: Db, turns: Sequence[tuple[bool, int]]
) -> None:
    start = utc_now().replace(microsecond=0)
    async with db.transaction() as tx:
        await tx.execute("DELETE FROM outages")
        for opens, second in turns:
            turn = [(1, 0, start + second * SECOND)]
            await (outages.open_ if opens else outages.close)(tx, turn)
        rows = await tx.fetch("SELECT started_at, ended_at FROM outages ORDER BY started_at, ended_at")
    assert [row["ended_at"] is None for row in rows[:-1]] == [False] * len(rows[:-1])
    assert bool(rows and rows[-1]["ended_at"] is None) == (bool(turns) and turns[-1][0])
    for record, other in pairwise(rows):
        assert record["ended_at"] <= other["started_at"]
