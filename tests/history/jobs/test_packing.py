"""Days that are over are packed by one collector; whatever interrupts it, no result is lost or doubled."""

import asyncio
import random
import signal
import sys
from asyncio.subprocess import PIPE
from datetime import timedelta

import asyncpg
import pytest

from collector.history.jobs import packing as job
from collector.history.jobs.days import DayPartitions
from collector.history.jobs.packing import ROWS_FOR, Packing
from collector.history.storage import packing, partitions, rollups
from collector.ops.jobs.retention import Retention
from collector.platform.database_clock import DatabaseClock
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.errors import Unavailable
from tests.clocks import GivenClock
from tests.history.packed import DAY, MONDAY, Row, every_minute, in_order, insert, read
from tests.probes.ground import fetch, make_monitors, make_team

pytestmark = pytest.mark.races

MONITORS = range(901, 913)
SERIES = [(monitor, 1) for monitor in MONITORS]
LATER = MONDAY + 4 * DAY


def work(db: Db) -> Packing:
    return Packing(db, clock=GivenClock(lambda: LATER))


async def fill(db: Db, count: int = 240) -> list[Row]:
    rows = [row for monitor in MONITORS for row in every_minute(monitor)[:count]]
    async with db.transaction() as tx:
        await insert(tx, rows)
    return in_order(rows)


async def all_of_it(packer: Packing) -> None:
    while await packer.turn():
        pass


async def forms(db: Db) -> tuple[int, int]:
    """How many results are rows, and how many are packed."""
    [row] = await fetch(
        db,
        """
        SELECT (SELECT count(*) FROM results) AS rows,
            (SELECT coalesce(sum(count), 0) FROM packed_results) AS packed
        """,
    )
    return row["rows"], row["packed"]


async def test_a_day_is_packed_when_it_is_over_for_two_days(db: Db) -> None:
    rows = await fill(db, 3)
    now = [MONDAY + DAY + ROWS_FOR - timedelta(milliseconds=1)]
    packer = Packing(db, clock=GivenClock(lambda: now[0]))
    await all_of_it(packer)
    assert await forms(db) == (36, 0)
    now[0] += timedelta(milliseconds=1)
    await all_of_it(packer)
    assert await forms(db) == (0, 36)
    assert await read(db, SERIES) == rows


async def test_of_several_collectors_one_packs(db: Db) -> None:
    rows = await fill(db, 30)
    several = [work(db) for _ in range(3)]
    assert sum(await asyncio.gather(*[packer.turn() for packer in several])) == 1
    await asyncio.gather(*map(all_of_it, several))
    assert await forms(db) == (0, len(rows))
    assert await read(db, SERIES) == rows


async def test_a_reader_sees_each_result_once_while_they_are_packed(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_MONITORS", 1)
    rows = await fill(db)
    packer = asyncio.create_task(all_of_it(work(db)))
    looks = 0
    while not packer.done():
        assert await read(db, SERIES) == rows
        looks += 1
    await packer
    assert looks > 1
    assert await forms(db) == (0, len(rows))


async def test_what_a_lost_connection_interrupts_is_done_again(
    db: Db, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At fifty moments, by chance."""
    monkeypatch.setattr(job, "_MONITORS", 1)
    rows, chance, ends = await fill(db), random.Random(11), 0
    away = await asyncpg.connect(database_url)
    try:
        for _ in range(50):
            own = await Db.open(database_url, size=1, name="packer")
            packer = asyncio.create_task(all_of_it(work(own)))
            await asyncio.sleep(chance.random() / 20)
            await away.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'packer'"
            )
            ends += isinstance((await asyncio.gather(packer, return_exceptions=True))[0], Unavailable)
            await own.close()
            await away.execute("DELETE FROM leases")
            if (await forms(db))[0] < len(rows) // 2:
                await away.execute("TRUNCATE packed_results, packed_days, results")
                async with db.transaction() as tx:
                    await insert(tx, rows)
            assert sum(await forms(db)) == len(rows)
    finally:
        await away.close()
    assert ends > 10
    await all_of_it(work(db))
    assert await forms(db) == (0, len(rows))
    assert await read(db, SERIES) == rows


async def test_a_killed_collector_leaves_nothing_half_done(db: Db, database_url: str) -> None:
    rows, chance = await fill(db), random.Random(5)
    for _ in range(4):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.history.packer", database_url, stdout=PIPE
        )
        assert process.stdout
        await process.stdout.readline()
        await asyncio.sleep(chance.random() / 10)
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()
        assert await read(db, SERIES) == rows
        async with db.connection() as tx:
            await tx.execute("DELETE FROM leases")
    await all_of_it(work(db))
    assert await forms(db) == (0, len(rows))
    assert await read(db, SERIES) == rows


async def test_a_deletion_amid_packing_leaves_nothing_behind(db: Db) -> None:
    gone, kept = await make_monitors(db, await make_team(db, MONDAY), count=2, now=MONDAY)
    async with db.transaction() as tx:
        await insert(tx, [*every_minute(gone)[:20], *every_minute(kept)[:20]])
    async with db.connection() as tx:
        await tx.execute("DELETE FROM monitors WHERE monitor = $1", gone)
    await all_of_it(work(db))
    assert len(await read(db, [(gone, 1), (kept, 1)])) == 40
    cleaner = Retention(db, keep=30 * DAY, keep_rollups=900 * DAY, now=utc_now)
    while await cleaner.turn():
        pass
    assert await read(db, [(gone, 1), (kept, 1)]) == every_minute(kept)[:20]


async def test_packing_yields_to_a_deletion(db: Db) -> None:
    await fill(db, 20)
    async with db.transaction() as deletion:
        await deletion.execute("DELETE FROM results WHERE monitor = 901")
        packer = asyncio.create_task(work(db).turn())
        await asyncio.sleep(0)
    assert await packer
    await all_of_it(work(db))
    async with db.connection() as tx:
        await tx.execute("DELETE FROM leases")
    await all_of_it(work(db))
    assert await forms(db) == (0, 220)


@pytest.mark.oldest
async def test_an_emptied_day_is_dropped_when_no_spool_can_fill_it(db: Db) -> None:
    rows = await fill(db, 3)
    await all_of_it(work(db))
    name = MONDAY.strftime("results_%Y_%m_%d")
    now = [MONDAY + 3 * DAY]
    upkeep = DayPartitions(db, keep=400 * DAY, clock=GivenClock(lambda: now[0]))
    for there in (True, False):
        now[0] += DAY
        await upkeep.turn()
        async with db.connection() as tx:
            assert (await tx.fetchval("SELECT to_regclass($1)", name) is not None) is there
    assert await read(db, SERIES) == rows
    async with db.connection() as tx:
        assert await partitions.first(tx) == await partitions.oldest(tx) == MONDAY


async def test_packed_days_go_when_they_are_old_and_a_clock_ahead_drops_none(db: Db) -> None:
    rows = await fill(db, 3)
    await all_of_it(work(db))
    now = [MONDAY + 400 * DAY]
    days = DayPartitions(db, keep=400 * DAY, clock=GivenClock(lambda: now[0]))
    async with db.transaction() as tx:
        await rollups.done(tx, now[0])
    await days.turn()
    assert await read(db, SERIES) == rows
    # A clock a day ahead of all results drops nothing; with a result of today it is believed.
    now[0] += DAY
    await days.turn()
    assert await read(db, SERIES) == rows
    async with db.transaction() as tx:
        await partitions.make(tx, now[0].date())
        await tx.execute(
            "INSERT INTO results (ts, monitor, ms, location, n, run, status) VALUES ($1, 1, 1, 1, 1, 1, 1)",
            now[0],
        )
    await days.turn()
    assert await read(db, SERIES) == []
    async with db.connection() as tx:
        assert await packing.days(tx) == []


async def test_while_clocks_disagree_nothing_is_packed(db: Db) -> None:
    rows = await fill(db, 3)
    ahead = [timedelta()]
    clock = DatabaseClock(db, wall=lambda: utc_now() + ahead[0])
    await clock.turn()
    ahead[0] = 3 * DAY
    with pytest.raises(Unavailable, match="more than a minute apart"):
        await Packing(db, clock=GivenClock(clock.now, agreed=clock.agreed)).turn()
    assert await forms(db) == (len(rows), 0)
