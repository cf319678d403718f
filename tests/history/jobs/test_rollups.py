"""Rollups say what the results say, in whatever order those came, and however often they are made."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.history.core.histogram import merged
from collector.history.jobs.days import DayPartitions
from collector.history.jobs.rollups import Rollups
from collector.history.storage import deleted, live_rollups, partitions, rollups
from collector.ops.jobs.retention import Retention
from collector.platform.storage.db import Db
from shared.clock import utc_now
from tests.clocks import GivenClock
from tests.history.ground import (
    HOUR,
    HOURS,
    Ground,
    History,
    Result,
    arrive,
    defined,
    histories,
    lay,
    recomputed,
    roll,
    rolled,
)
from tests.probes.ground import fetch, make_monitors, make_team

pytestmark = pytest.mark.races

DAY = timedelta(days=1)
GRACE = timedelta(minutes=2)
# A day whose every hour is over, and which no history leaves.
START = (utc_now() - 2 * DAY).replace(hour=6, minute=0, second=0, microsecond=0)
END = START + HOURS * HOUR
_names = count()


async def make_ground(db: Db, start: datetime = START) -> Ground:
    """A new monitor, at two new locations; all hours before *start* are rolled up."""
    team_id = await make_team(db, utc_now())
    [monitor] = await make_monitors(db, team_id, now=utc_now())
    names = [f"place-{next(_names)}" for _ in range(2)]
    async with db.transaction() as tx:
        rows = await tx.fetch(
            "INSERT INTO locations (name) SELECT unnest($1::text[]) RETURNING location", names
        )
        await partitions.make(tx, utc_now().date())
        await rollups.done(tx, start)
    one, other = sorted(row["location"] for row in rows)
    return Ground(db, monitor, (one, other), start)


async def simple(db: Db, start: datetime = START) -> Ground:
    """A good check each ten minutes of the first two hours, at one location."""
    ground = await make_ground(db, start)
    await lay(ground, History([], [(-1, 700)], []))
    await arrive(ground, [Result(0, second, 1, 1, 80) for second in range(0, 7200, 600)], start)
    return ground


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories, late=st.data())
async def test_rollups_are_what_a_slow_recomputation_finds(
    db: Db, history: History, late: st.DataObject
) -> None:
    """Some results come in time, and others at any hour after, in any order and in pieces."""
    ground = await make_ground(db)
    await lay(ground, history)
    order = late.draw(st.permutations(history.results))
    split = late.draw(st.integers(0, len(order)))
    await arrive(ground, order[:split], START)
    now = START
    for piece in _pieces(order[split:], 3):
        now += late.draw(st.sampled_from([HOUR, 2 * HOUR, 5 * HOUR]))
        await roll(db, now)
        await arrive(ground, piece, now)
    await roll(db, END + HOUR)
    expected = recomputed(history)
    found = {key: row for key, row in (await rolled(ground)).items() if key[1] < HOURS}
    assert found == expected
    times = {key: (row["known_ms"], row["down_ms"]) for key, row in found.items() if row["known_ms"]}
    assert times == defined(history)
    assert await _live(ground) == times
    await _days_are_sums(ground)
    await _again_changes_nothing(ground)


async def _live(ground: Ground) -> dict[tuple[int, int], tuple[int, int]]:
    """Milliseconds known and down, as they are counted while nothing is rolled up."""
    async with ground.db.connection() as tx:
        found = await live_rollups.rollups(tx, [ground.monitor], [(START, END)], HOUR)
    places = (0, *ground.locations)
    return {
        (places.index(row.location), (row.at - START) // HOUR): (row.known_ms, row.down_ms)
        for row in found[ground.monitor]
        if row.known_ms
    }


def _pieces(results: Sequence[Result], size: int) -> list[Sequence[Result]]:
    step = max(1, len(results) // size)
    return [results[start : start + step] for start in range(0, len(results), step)]


async def _days_are_sums(ground: Ground) -> None:
    hours, days = await rolled(ground), await rolled(ground, "rollups_day")
    assert {place for place, _ in days} == {place for place, _ in hours}
    for (place, number), day in days.items():
        mine = [
            row
            for (at, hour), row in hours.items()
            if (at, (ground.start.hour + hour) // 24) == (place, number)
        ]
        parts = [([*row["histogram"]], [*row["histogram"].values()]) for row in mine]
        assert day.pop("histogram") == dict(zip(*merged(parts), strict=True))
        assert day == {name: sum(row[name] for row in mine) for name in day}


async def _again_changes_nothing(ground: Ground) -> None:
    before = await rolled(ground), await rolled(ground, "rollups_day")
    async with ground.db.transaction() as tx:
        await rollups.make(tx, [(ground.monitor, START + n * HOUR) for n in range(HOURS)])
    assert (await rolled(ground), await rolled(ground, "rollups_day")) == before


async def test_an_hour_is_rolled_up_two_minutes_after_its_end(db: Db) -> None:
    ground = await simple(db)
    await roll(db, START + HOUR + GRACE - timedelta(seconds=1))
    assert await rolled(ground) == {}
    await roll(db, START + HOUR + GRACE)
    assert {hour for _, hour in await rolled(ground)} == {0}
    assert (await fetch(db, "SELECT until FROM rollups_done"))[0]["until"] == START + HOUR


async def test_what_the_hour_before_says_goes_on_into_the_next(db: Db) -> None:
    ground = await simple(db)
    await roll(db, START + 4 * HOUR)
    hours = await rolled(ground)
    assert [hours[0, hour]["known_ms"] for hour in (0, 1, 2)] == [3_600_000, 3_600_000, 100_000]
    assert (hours[0, 2]["checks"], hours[0, 2]["histogram"]) == (0, {})


@pytest.mark.oldest
async def test_old_results_are_caught_up_with_piece_by_piece(db: Db) -> None:
    ground = await simple(db, START)
    async with db.transaction() as tx:
        await tx.execute("DELETE FROM rollups_done")
        await tx.execute("DELETE FROM rollups_dirty")
    work = Rollups(db, clock=GivenClock(lambda: START + 2 * DAY))
    turns = 1
    while await work.turn():
        turns += 1
    assert turns > 1
    assert {hour for _, hour in await rolled(ground)} == {0, 1, 2}


async def test_each_of_many_monitors_is_rolled_up_in_pieces_and_by_several_collectors(db: Db) -> None:
    grounds = [await simple(db) for _ in range(5)]
    works = [Rollups(db, clock=GivenClock(lambda: START + 4 * HOUR), size=2) for _ in range(3)]
    while any(await asyncio.gather(*[work.turn() for work in works])):
        pass
    first, *others = [await rolled(ground) for ground in grounds]
    assert {hour for _, hour in first} == {0, 1, 2}
    assert others == [first] * 4


async def test_a_successor_begins_an_hour_anew(db: Db) -> None:
    grounds = [await simple(db) for _ in range(3)]
    first = Rollups(db, clock=GivenClock(lambda: START + HOUR + GRACE), size=1)
    assert await first.turn()
    await arrive(grounds[0], [Result(0, 30, 2, 1, 5)], START + HOUR + GRACE)
    await roll(db, START + HOUR + 2 * GRACE + timedelta(minutes=2))
    assert [(await rolled(ground))[0, 0]["failed"] for ground in grounds] == [1, 0, 0]


async def test_a_late_result_counts_in_its_hour_and_speaks_into_the_next(db: Db) -> None:
    ground = await simple(db)
    await roll(db, START + 4 * HOUR)
    await arrive(ground, [Result(0, 7190, 3, 1, 5)], START + 4 * HOUR)
    await roll(db, START + 4 * HOUR)
    hours = await rolled(ground)
    assert (hours[0, 1]["unknown"], hours[0, 1]["known_ms"]) == (1, 3_590_000)
    assert (0, 2) not in hours
    assert await fetch(db, "SELECT FROM rollups_dirty") == []


async def test_a_mark_that_comes_while_its_hour_is_made_again_is_kept_and_waits_for_nobody(db: Db) -> None:
    ground = await simple(db)
    await roll(db, START + 4 * HOUR)
    await arrive(ground, [Result(0, 30, 2, 1, 5)], START + 4 * HOUR)
    async with db.transaction() as tx:
        taken = await rollups.take_marks(tx, START, START + 3 * HOUR, 100)
        await rollups.make(tx, taken)
        async with asyncio.timeout(5):
            await arrive(ground, [Result(0, 40, 2, 1, 5)], START + 4 * HOUR)
    assert (await rolled(ground))[0, 0]["failed"] == 1
    await roll(db, START + 4 * HOUR)
    assert (await rolled(ground))[0, 0]["failed"] == 2


async def test_strays_are_counted_lose_nothing_and_change_nothing_when_their_day_is_made(db: Db) -> None:
    ground = await make_ground(db)
    day = START.strftime("results_%Y_%m_%d")
    async with db.transaction() as tx:
        await tx.execute(f"DROP TABLE {day}")
    await lay(ground, History([], [(-1, 700)], []))
    await arrive(ground, [Result(0, second, 1, 1, 80) for second in range(0, 7200, 600)], START)
    assert len(await fetch(db, "SELECT FROM results_default")) == 12
    await roll(db, END)
    before = await rolled(ground)
    assert sum(row["checks"] for (place, _), row in before.items() if place == 0) == 12
    await DayPartitions(db, keep=30 * DAY, clock=GivenClock(utc_now)).turn()
    assert await fetch(db, "SELECT FROM results_default") == []
    assert len(await fetch(db, f"SELECT FROM {day}")) == 12
    await _again_changes_nothing(ground)
    assert await rolled(ground) == before


async def long_after(db: Db, later: datetime) -> DayPartitions:
    """Who drops days, at that time, of which there is a result: so nobody doubts it."""
    async with db.transaction() as tx:
        await tx.execute(
            "INSERT INTO results (ts, monitor, ms, location, n, run, status) VALUES ($1, 0, 1, 1, 1, 1, 1)",
            later,
        )
    return DayPartitions(db, keep=10 * DAY, clock=GivenClock(lambda: later))


async def drop_all(days: DayPartitions) -> None:
    for _ in range(10):
        await days.turn()


async def test_results_go_only_when_their_hours_are_rolled_up(db: Db) -> None:
    ground = await simple(db)
    later = START + 40 * DAY
    days = await long_after(db, later)

    async def drop() -> int:
        await drop_all(days)
        return len(await fetch(db, "SELECT FROM results WHERE ts < $1", later))

    assert await drop() == 12
    await roll(db, END + 3 * DAY)
    await arrive(ground, [Result(0, 30, 2, 1, 5)], END + 3 * DAY)
    assert await drop() == 13  # one of its hours is to be made again
    await roll(db, END + 3 * DAY)
    assert await drop() == 0
    assert (await rolled(ground))[0, 0]["failed"] == 1


async def test_a_mark_of_an_hour_whose_results_are_gone_changes_nothing(db: Db) -> None:
    ground = await simple(db)
    await roll(db, END)
    before = await rolled(ground)
    later = START + 40 * DAY
    days = await long_after(db, later)
    await drop_all(days)
    await roll(db, later)
    await drop_all(days)
    assert await fetch(db, "SELECT FROM results WHERE ts < $1", later) == []
    async with db.transaction() as tx:
        await rollups.mark(tx, [(ground.monitor, START)])
    await roll(db, later)
    assert await rolled(ground) == before
    assert await fetch(db, "SELECT FROM rollups_dirty") == []


async def test_a_deletion_that_races_a_rollup_leaves_nothing_behind(db: Db) -> None:
    ground, other = await simple(db), await simple(db)
    async with db.transaction() as tx:
        await rollups.make(tx, [(ground.monitor, START), (other.monitor, START)])
        async with db.transaction() as deletion:
            await deletion.execute("DELETE FROM monitors WHERE monitor = $1", ground.monitor)
        async with db.transaction() as deletion:
            await deleted.forget(deletion, [ground.monitor])
    assert await rolled(ground)
    await arrive(ground, [], START)
    work = Retention(db, keep=30 * DAY, keep_rollups=900 * DAY, now=utc_now)
    while await work.turn():
        pass
    assert await rolled(ground) == {}
    assert await rolled(ground, "rollups_day") == {}
    assert await rolled(other)
