"""An incident resolved by hand while its target still fails is opened again, and told, after 10 minutes."""

from datetime import datetime, timedelta

from collector.storage.db import Db
from collector.sweeper.holds import Holds
from collector.sweeper.reopening import PATIENCE, Reopening
from shared.clock import utc_now
from shared.results import Status
from tests.ingest.world import World, make_world, writing

UP, DOWN = Status.UP, Status.DOWN
LATER = PATIENCE + timedelta(seconds=5)


async def turn(world: World, ahead: timedelta) -> None:
    """Of the sweeper, and of what tells, so much later."""

    def now() -> datetime:
        return utc_now() + ahead

    await Reopening(world.db, now=now).turn()
    await Holds(world.db, now=now, tell=lambda: None).turn()


async def submit(world: World, *statuses: Status) -> None:
    async with writing(world) as writer:
        await writer.submit(world.batch(*statuses))


async def resolve_by_hand(world: World) -> None:
    await world.run(
        """
        UPDATE incidents SET status = 'resolved', resolved_at = now(), spans_s = 60,
            resolved_by = '{"id": "usr_1", "name": "On call"}'
        """
    )


async def told(world: World) -> list[str]:
    return [row["kind"] for row in await world.fetch("SELECT kind FROM events ORDER BY sequence")]


async def statuses(world: World) -> list[str]:
    return [row["status"] for row in await world.fetch("SELECT status FROM incidents")]


async def test_still_down_after_ten_minutes_it_goes_on_and_is_told_once(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await turn(world, PATIENCE - timedelta(seconds=30))
    assert await statuses(world) == ["resolved"]
    await turn(world, LATER)
    await turn(world, LATER)
    assert await statuses(world) == ["open"]
    assert await told(world) == ["monitor.down", "monitor.down"]
    [entry] = await world.fetch("SELECT type, actor FROM timeline ORDER BY n DESC LIMIT 1")
    assert (entry["type"], entry["actor"]) == ("reopened", "System")
    await submit(world, UP)
    assert await told(world) == ["monitor.down", "monitor.down", "monitor.up"]
    assert await statuses(world) == ["resolved"]


async def test_one_that_recovered_within_them_stays_resolved(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await submit(world, UP)
    await turn(world, LATER)
    assert await statuses(world) == ["resolved"]
    assert await told(world) == ["monitor.down", "monitor.up"]


async def test_a_paused_monitor_is_left_alone(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await world.run("UPDATE monitors SET paused_at = now()")
    await turn(world, LATER)
    assert await statuses(world) == ["resolved"]


async def test_in_a_silence_it_is_recorded_and_told_to_nobody(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await world.run("UPDATE monitors SET silenced_until = now() + interval '1 hour'")
    await turn(world, LATER)
    assert await statuses(world) == ["open"]
    assert await told(world) == ["monitor.down"]
