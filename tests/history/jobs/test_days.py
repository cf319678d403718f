"""Days of results are made before they are needed and go when they are old, whoever is at work meanwhile."""

import asyncio
from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from collector.evaluation.ingest import columns
from collector.history.jobs.days import DayPartitions
from collector.history.storage import partitions, rollups
from collector.platform.database_clock import DatabaseClock
from collector.platform.storage.db import Db, Tx
from shared.clock import utc_now
from shared.errors import Unavailable
from shared.wire.convert import SPOOL_AGE_S
from tests.clocks import GivenClock
from tests.probes.ground import eventually, fetch
from tests.waiting import WAITING

pytestmark = pytest.mark.races

DAY = timedelta(days=1)
NOON = utc_now().replace(hour=12, minute=0, second=0, microsecond=0)


def days(db: Db, now: datetime = NOON, keep: timedelta = 90 * DAY) -> DayPartitions:
    return DayPartitions(db, keep=keep, clock=GivenClock(lambda: now))


class Clock:
    """A clock that a test sets."""

    def __init__(self, now: datetime) -> None:
        self.now = now


def settable(db: Db, now: datetime, keep: timedelta) -> tuple[DayPartitions, Clock]:
    clock = Clock(now)
    return DayPartitions(db, keep=keep, clock=GivenClock(lambda: clock.now)), clock


async def rolled_up(db: Db, until: datetime = NOON) -> None:
    async with db.transaction() as tx:
        await rollups.done(tx, until)


async def there(db: Db) -> list[str]:
    rows = await fetch(
        db,
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'results'::regclass",
    )
    return sorted(row["name"] for row in rows if row["name"] != "results_default")


async def add(tx: Tx, *moments: datetime) -> None:
    await tx.executemany(
        "INSERT INTO results (ts, monitor, ms, location, n, run, status) VALUES ($1, 1, 1, 1, $2, 1, 1)",
        [(moment, n) for n, moment in enumerate(moments)],
    )


async def lies(db: Db) -> dict[str, int]:
    rows = await fetch(db, "SELECT tableoid::regclass::text AS name, count(*) FROM results GROUP BY 1")
    return {row["name"]: row["count"] for row in rows}


def name(moment: datetime) -> str:
    return moment.strftime("results_%Y_%m_%d")


def test_results_reach_as_far_back_as_a_spool() -> None:
    assert timedelta(seconds=SPOOL_AGE_S) == partitions.BACK == columns.OLDEST


async def test_every_day_of_a_spool_and_some_ahead_are_made(db: Db) -> None:
    await days(db).turn()
    assert await there(db) == [name(NOON + offset * DAY) for offset in range(-3, 4)]
    await days(db).turn()
    assert len(await there(db)) == 7


async def test_a_day_ends_at_midnight_utc(db: Db) -> None:
    await days(db).turn()
    midnight = NOON.replace(hour=0)
    async with db.transaction() as tx:
        await add(tx, midnight - timedelta(milliseconds=1), midnight)
    assert await lies(db) == {name(midnight - DAY): 1, name(midnight): 1}


async def test_what_came_before_its_day_was_made_moves_there(db: Db) -> None:
    async with db.transaction() as tx:
        await add(tx, NOON, NOON - DAY, NOON + 30 * DAY)
    await days(db).turn()
    assert await lies(db) == {name(NOON): 1, name(NOON - DAY): 1, "results_default": 1}


async def test_what_is_being_written_while_its_day_is_made_moves_there_too(db: Db) -> None:
    async with db.transaction() as tx:
        await add(tx, NOON - 3 * DAY)
        making = asyncio.create_task(days(db).turn())
        await eventually(lambda: fetch(db, WAITING))
    await making
    assert await lies(db) == {name(NOON - 3 * DAY): 1}


async def test_of_several_collectors_one_makes_the_days(db: Db) -> None:
    await asyncio.gather(*[days(db).turn() for _ in range(4)])
    assert len(await there(db)) == 7


async def test_days_that_are_too_old_go(db: Db) -> None:
    """One in each turn, however many they are."""
    await rolled_up(db)
    work, clock = settable(db, NOON - 5 * DAY, keep=5 * DAY)
    await work.turn()
    clock.now = NOON
    await work.turn()
    async with db.transaction() as tx:
        await add(tx, NOON)
    for first in (-8, -7, -6, -5, -5):
        assert await there(db) == [name(NOON + offset * DAY) for offset in range(first, 4)]
        await work.turn()


@pytest.mark.parametrize("keep", [timedelta(), DAY, 3 * DAY])
async def test_no_day_goes_that_a_spool_may_still_fill(db: Db, keep: timedelta) -> None:
    await rolled_up(db)
    work, clock = settable(db, NOON - 2 * DAY, keep=keep)
    await work.turn()
    clock.now = NOON
    async with db.transaction() as tx:
        await add(tx, NOON)
    await work.turn()
    before = await there(db)
    assert before[0] == name(NOON - 4 * DAY)
    await work.turn()
    assert await there(db) == before


async def test_a_long_read_puts_off_what_must_go_and_stops_no_writer(db: Db) -> None:
    await rolled_up(db)
    work, clock = settable(db, NOON - 30 * DAY, keep=5 * DAY)
    await work.turn()
    old = set(await there(db))
    clock.now = NOON
    async with db.transaction() as tx:
        await add(tx, NOON)
    async with db.transaction() as reader:
        await reader.fetch("SELECT FROM results LIMIT 1")
        async with asyncio.timeout(10):
            await work.turn()
        async with asyncio.timeout(5), db.transaction() as tx:
            await add(tx, NOON + timedelta(seconds=1))
    assert old <= set(await there(db))
    for _ in old:
        await work.turn()
    assert not old & set(await there(db))
    assert sum((await lies(db)).values()) == 2


@pytest.mark.parametrize("ahead", [40 * DAY, 400 * DAY])
async def test_a_clock_that_runs_days_ahead_of_the_results_drops_nothing(db: Db, ahead: timedelta) -> None:
    await rolled_up(db, NOON + ahead)
    work, clock = settable(db, NOON, keep=30 * DAY)
    await work.turn()
    async with db.transaction() as tx:
        await add(tx, NOON)
    clock.now = NOON + ahead
    before = set(await there(db))
    with capture_logs() as logs:
        await work.turn()
        await work.turn()
    assert before <= set(await there(db))
    assert await lies(db) == {name(NOON): 1}
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == [
        "no result of the last day: no day of results is dropped"
    ]


@pytest.mark.oldest
async def test_while_clocks_disagree_days_are_made_and_none_is_dropped(db: Db) -> None:
    await rolled_up(db)
    wall = [utc_now()]
    clock = DatabaseClock(db, wall=lambda: wall[0])
    await clock.turn()
    work = DayPartitions(db, keep=timedelta(), clock=GivenClock(clock.now, agreed=clock.agreed))
    async with db.transaction() as tx:
        await partitions.make_days(tx, [utc_now().date() - 10 * DAY])
        await add(tx, utc_now())
    wall[0] += 40 * DAY
    with pytest.raises(Unavailable, match="more than a minute apart"):
        await work.turn()
    assert await there(db) == [
        name(utc_now() - 10 * DAY),
        *(name(utc_now() + offset * DAY) for offset in range(-3, 4)),
    ]
    wall[0] = utc_now()
    await work.turn()
    assert name(utc_now() - 10 * DAY) not in await there(db)
