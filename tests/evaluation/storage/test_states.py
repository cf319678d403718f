"""The rows of what is known now: locked in the order of their keys, whatever the planner thinks of them."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import pytest

from collector.evaluation.storage import locks, states
from collector.evaluation.storage.states import Latest
from collector.platform.storage.db import Db
from shared.clock import EPOCH, utc_now
from tests.evaluation.world import World, make_world
from tests.waiting import WAITING

pytestmark = pytest.mark.races

Key = tuple[int, int]


def _latest(world: World, keys: Sequence[Key], probe_id: UUID | None = None) -> Latest:
    count = len(keys)
    at_ms = int((utc_now() - EPOCH).total_seconds() * 1000)
    return Latest(
        probes=[probe_id or world.probe_id],
        ordinals=[1],
        monitor=[monitor for monitor, _ in keys],
        location=[location for _, location in keys],
        part=[0] * count,
        assignment=[world.assignments[key] for key in keys],
        revision=[1] * count,
        at_ms=[at_ms] * count,
        status=[1] * count,
        ms=[1] * count,
        error=[None] * count,
        troubled=[False] * count,
    )


async def _free(world: World) -> set[Key]:
    """Keys of the rows that nobody has locked."""
    rows = await world.fetch("SELECT monitor, location FROM states FOR UPDATE SKIP LOCKED")
    return {(row["monitor"], row["location"]) for row in rows}


async def _waiting(world: World) -> None:
    async with asyncio.timeout(20):
        while not await world.value(WAITING):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("monitors", [20, 8_000])
async def test_rows_are_locked_in_the_order_of_their_keys(db: Db, monitors: int) -> None:
    world = await make_world(db, monitors=monitors, locations=("eu", "us", "ap", "sa", "af"))
    # On the pages they lie in the reverse order, and the planner knows them well.
    await world.run("CREATE TABLE backwards AS SELECT * FROM states ORDER BY monitor DESC, location DESC")
    await world.run("TRUNCATE states")
    await world.run("INSERT INTO states SELECT * FROM backwards")
    await world.run("ANALYZE states")
    keys = sorted(world.assignments)
    mine = keys[: max(len(keys) // 4, 20)]
    middle = len(mine) // 2

    async def move() -> int:
        async with db.transaction() as tx:
            await locks.begin(tx)
            return (await states.move(tx, _latest(world, mine))).count

    async with db.transaction() as other:
        await other.execute(
            "SELECT FROM states WHERE monitor = $1 AND location = $2 FOR UPDATE", *mine[middle]
        )
        moving = asyncio.create_task(move())
        await _waiting(world)
        locked = set(keys) - await _free(world)
    assert await moving == len(mine)
    assert locked == set(mine[: middle + 1])


async def test_a_row_takes_only_what_its_own_probe_saw_under_its_plan(db: Db) -> None:
    world = await make_world(db, monitors=3)
    keys = sorted(world.assignments)
    async with db.transaction() as tx:
        moved = await states.move(tx, _latest(world, keys[:1], probe_id=UUID(int=5)))
        assert moved.count == 0
        moved = await states.move(tx, _latest(world, keys))
        assert (moved.count, moved.wanting) == (3, frozenset())
