"""Windows go on while time does, and hours that maintenance was put into afterwards are counted again."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from collector.maintenance.jobs.windows import Maintenance
from collector.maintenance.service import windows as deeds
from collector.maintenance.storage import spans
from collector.platform.access import system
from collector.platform.storage.db import Db
from shared.clock import iso, utc_now
from shared.ids import show
from tests.history.ground import HOUR, Ground, History, Result, arrive, lay, roll, rolled
from tests.history.jobs.test_rollups import START, make_ground
from tests.probes.ground import fetch, make_monitors

DAY = timedelta(days=1)


async def plan(db: Db, team_id: int, start: datetime, now: datetime, **fields: Any) -> str:
    """The id of a window of every monitor that takes half an hour."""
    body = {"name": "upgrade", "all": True, "start": iso(start), "duration": 1800, **fields}
    return show("mw", (await deeds.create(db, system(team_id), body, now)).row.id)


async def work(db: Db, now: datetime) -> None:
    turns = Maintenance(db, now=lambda: now)
    while await turns.turn():
        pass


async def team_of(ground: Ground) -> int:
    [row] = await fetch(ground.db, "SELECT team_id FROM monitors WHERE monitor = $1", ground.monitor)
    return int(row["team_id"])


async def bad_morning(db: Db) -> Ground:
    """A result each ten minutes of two hours, rolled up; an outage from 0:20 to 1:20."""
    ground = await make_ground(db)
    await lay(ground, History([], [(-1, 700)], [(0, 1200, 4800)]))
    await arrive(ground, [Result(0, second, 1, 1, 80) for second in range(0, 7200, 600)], START)
    await roll(db, START + 4 * HOUR)
    return ground


async def test_hours_that_were_under_maintenance_are_counted_again(db: Db) -> None:
    ground = await bad_morning(db)
    before = await rolled(ground)
    assert [(before[0, hour]["known_ms"], before[0, hour]["down_ms"]) for hour in (0, 1)] == [
        (3_600_000, 2_400_000),
        (3_600_000, 1_200_000),
    ]
    now = START + 4 * HOUR
    await plan(db, await team_of(ground), START + HOUR / 2, now, duration=3600)
    await work(db, now)
    await roll(db, now)
    after = await rolled(ground)
    assert [(after[0, hour]["known_ms"], after[0, hour]["down_ms"]) for hour in (0, 1)] == [
        (1_800_000, 600_000),
        (1_800_000, 0),
    ]
    assert [after[0, hour]["checks"] for hour in (0, 1)] == [6, 6]
    assert await fetch(db, "SELECT FROM maintenance_spans WHERE recount_until IS NOT NULL") == []


async def test_only_monitors_that_it_was_for_are_counted_again_all_of_them_and_once(db: Db) -> None:
    ground = await bad_morning(db)
    team_id, now = await team_of(ground), START + 4 * HOUR
    monitors = [ground.monitor, *await make_monitors(db, team_id, 120, now=START)]
    async with db.transaction() as tx:
        await tx.execute('UPDATE monitors SET tags = \'{"env": "prod"}\' WHERE monitor <> $1', ground.monitor)
    await plan(db, team_id, START + HOUR / 2, now, duration=3600, all=False, tags=["env"])
    await asyncio.gather(*[work(db, now) for _ in range(3)])
    marked = await fetch(db, "SELECT monitor, at FROM rollups_dirty")
    hours = [(row["monitor"], (row["at"] - START) // HOUR) for row in marked]
    assert sorted(hours) == [(monitor, hour) for monitor in monitors[1:] for hour in (0, 1)]


@pytest.mark.oldest
async def test_a_window_that_recurs_goes_on_as_long_as_somebody_works(db: Db) -> None:
    ground = await make_ground(db)
    now = utc_now().replace(minute=0, second=0, microsecond=0)
    await plan(db, await team_of(ground), now + HOUR, now, rrule="FREQ=DAILY")
    for day in (10, 31, 32, 60, 200):
        await work(db, now + day * DAY)
    found = await fetch(db, "SELECT starts_at, recount_until FROM maintenance_spans ORDER BY starts_at")
    starts = [row["starts_at"] for row in found]
    assert starts == [now + HOUR + n * DAY for n in range(len(starts))]
    assert 205 <= len(starts) <= 240
    # Those of the months in which nobody worked came too late for the hours that were over.
    assert sum(row["recount_until"] is not None for row in found) == 0
    async with db.connection() as tx:
        held = await spans.active(tx, [ground.monitor], now + 200 * DAY + 1.25 * HOUR)
    assert held == {ground.monitor: now + 200 * DAY + 1.5 * HOUR}


async def test_several_collectors_lay_each_span_once(db: Db) -> None:
    ground = await make_ground(db)
    now = utc_now()
    for _ in range(30):
        await plan(db, await team_of(ground), now + HOUR, now, rrule="FREQ=DAILY")
    await asyncio.gather(*[work(db, now + 40 * DAY) for _ in range(4)])
    [row] = await fetch(
        db, "SELECT count(*) AS spans, count(DISTINCT (window_id, starts_at)) AS once FROM maintenance_spans"
    )
    assert row["spans"] == row["once"] >= 30 * 40
    assert await fetch(db, "SELECT FROM maintenance_windows WHERE extend_at <= $1", now + 40 * DAY) == []
