"""What pings brought goes with time and with its monitor, a little at a time, whoever does it."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.heartbeats.storage import ping_bodies
from collector.ops.jobs import retention
from collector.ops.jobs.retention import Retention
from collector.platform.storage.db import Db
from tests.evaluation.world import make_world

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)


async def clean(db: Db) -> int:
    """Take the turns of a round, as the one collector that there is now; how many they were."""
    await run(db, "DELETE FROM leases")
    work, turns = Retention(db, keep=30 * DAY, keep_rollups=365 * DAY, now=lambda: NOON), 1
    while await work.turn():
        turns += 1
        assert turns < 60
    return turns


async def run(db: Db, sql: str) -> None:
    async with db.connection() as tx:
        await tx.execute(sql)


async def keep(db: Db, *bodies: tuple[int, datetime, int]) -> None:
    async with db.transaction() as tx:
        await ping_bodies.keep(tx, [(*body, "text") for body in bodies])


async def left(db: Db) -> list[tuple[int, datetime]]:
    async with db.connection() as tx:
        rows = await tx.fetch("SELECT monitor, ts FROM ping_bodies ORDER BY monitor, ts")
    return [(row["monitor"], row["ts"]) for row in rows]


@pytest.mark.oldest
async def test_what_is_too_old_goes_and_what_is_of_nobody(db: Db) -> None:
    [monitor] = (await make_world(db, monitors=1)).monitors
    await keep(db, (monitor, NOON - DAY, 1), (monitor, NOON - 31 * DAY, 1), (monitor + 1, NOON, 1))

    await clean(db)

    assert await left(db) == [(monitor, NOON - DAY)]


async def test_many_go_turn_by_turn(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monitors = (await make_world(db, monitors=3)).monitors
    gone = max(monitors) + 1
    await keep(db, *((each, NOON - 40 * DAY, n) for each in monitors for n in range(2)))
    await keep(db, *((gone + each, NOON, n) for each in range(3) for n in range(4)))
    await keep(db, *((each, NOON, 1) for each in monitors))
    at_once = await clean(db)
    await keep(db, *((each, NOON - 40 * DAY, n) for each in monitors for n in range(2)))
    await keep(db, *((gone + each, NOON, n) for each in range(3) for n in range(4)))

    monkeypatch.setattr(retention, "_ROWS", 3)
    monkeypatch.setattr(retention, "_MONITORS", 2)

    assert await clean(db) >= at_once + 5
    assert await left(db) == [(each, NOON) for each in monitors]
