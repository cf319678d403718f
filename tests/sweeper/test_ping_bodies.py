"""What pings brought goes with time and with its monitor, a little at a time, whoever does it."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.heartbeats.jobs import ping_bodies as sweeper
from collector.heartbeats.jobs.ping_bodies import PingBodies
from collector.heartbeats.storage import ping_bodies
from collector.platform.storage.db import Db
from tests.ingest.world import make_world

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def one(db: Db) -> PingBodies:
    return PingBodies(db, keep=30 * DAY, now=lambda: NOON)


async def keep(db: Db, *bodies: tuple[int, datetime, int]) -> None:
    async with db.transaction() as tx:
        await ping_bodies.keep(tx, [(*body, "text") for body in bodies])


async def left(db: Db) -> list[tuple[int, datetime]]:
    async with db.connection() as tx:
        rows = await tx.fetch("SELECT monitor, ts FROM ping_bodies ORDER BY monitor, ts")
    return [(row["monitor"], row["ts"]) for row in rows]


async def test_what_is_too_old_goes_and_what_is_of_nobody(db: Db) -> None:
    [monitor] = (await make_world(db, monitors=1)).monitors
    await keep(db, (monitor, NOON - DAY, 1), (monitor, NOON - 31 * DAY, 1), (monitor + 1, NOON, 1))

    assert not await one(db).turn()

    assert await left(db) == [(monitor, NOON - DAY)]


async def test_many_go_turn_by_turn(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "_ROWS", 3)
    monkeypatch.setattr(sweeper, "_MONITORS", 2)
    monitors = (await make_world(db, monitors=3)).monitors
    gone = max(monitors) + 1
    await keep(db, *((each, NOON - 40 * DAY, n) for each in monitors for n in range(2)))
    await keep(db, *((gone + each, NOON, n) for each in range(3) for n in range(4)))
    await keep(db, *((each, NOON, 1) for each in monitors))
    worker = one(db)

    turns = 1
    while await worker.turn():
        turns += 1
        assert turns < 20

    assert turns > 5
    assert await left(db) == [(each, NOON) for each in monitors]


async def test_of_several_collectors_one_does_it(db: Db) -> None:
    assert not await one(db).turn()
    await keep(db, (1, NOON - 40 * DAY, 1))

    assert not await one(db).turn()

    assert len(await left(db)) == 1
