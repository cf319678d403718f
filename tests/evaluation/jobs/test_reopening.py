"""An incident resolved by hand while its target still fails is reopened, and announced, after 10 minutes."""

from datetime import datetime, timedelta

import pytest

from collector.evaluation.core.holds import REOPENED_AFTER
from collector.evaluation.jobs.holds import Holds
from collector.evaluation.jobs.resolved_while_down import IncidentReopener
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

UP, DOWN = Status.UP, Status.DOWN
_TOLD = "SELECT kind FROM events WHERE kind LIKE 'monitor.%' ORDER BY sequence"
LATER = REOPENED_AFTER + timedelta(seconds=5)


async def turn(world: World, ahead: timedelta) -> None:
    """Of the sweeper, and of what tells, so much later."""

    def now() -> datetime:
        return utc_now() + ahead

    await world.run("UPDATE probes SET seen_at = $1", now())
    await IncidentReopener(world.db, clock=GivenClock(now)).turn()
    await Holds(world.db, clock=GivenClock(now)).turn()


async def submit(world: World, *statuses: Status) -> None:
    await world.run("UPDATE probes SET seen_at = now()")
    async with writing(world) as writer:
        await writer.submit(world.batch(*statuses))


async def resolve_by_hand(world: World) -> None:
    await world.run(
        """
        UPDATE incidents SET status = 'resolved', resolved_at = now(), spans_s = 60,
            resolved_by = '{"id": "usr_1", "name": "On call"}'
        """
    )


async def maintain(world: World) -> None:
    """A window for all monitors of the team, for an hour from now."""
    await world.run(
        """
        INSERT INTO maintenance_spans (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
        VALUES ($1, gen_random_uuid(), now(), now() + interval '1 hour', true, '{}', '{}', '{}')
        """,
        world.team_id,
    )


async def told(world: World) -> list[str]:
    return [row["kind"] for row in await world.fetch(_TOLD)]


async def statuses(world: World) -> list[str]:
    return [row["status"] for row in await world.fetch("SELECT status FROM incidents")]


async def test_still_down_after_ten_minutes_it_goes_on_and_is_told_once(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await turn(world, REOPENED_AFTER - timedelta(seconds=30))
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


async def test_what_was_reopened_in_a_silence_is_told_when_that_ends_and_its_end_once(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await world.run("UPDATE monitors SET silenced_until = now() + interval '1 hour'")
    await turn(world, LATER)
    await world.run("UPDATE monitors SET silenced_until = NULL")
    for _ in range(2):
        await turn(world, LATER)
    assert await told(world) == ["monitor.down", "monitor.down"]
    await submit(world, UP)
    assert await told(world) == ["monitor.down", "monitor.down", "monitor.up"]


async def test_who_was_told_before_it_was_reopened_in_a_silence_hears_of_its_end_within_it(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await world.run("UPDATE monitors SET silenced_until = now() + interval '1 hour'")
    await turn(world, LATER)
    await submit(world, UP)
    assert await told(world) == ["monitor.down", "monitor.up"]


@pytest.mark.oldest
async def test_within_a_maintenance_window_it_stays_resolved_until_that_ends(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await maintain(world)
    await turn(world, LATER)
    assert await statuses(world) == ["resolved"]
    await turn(world, timedelta(hours=2))
    assert await statuses(world) == ["open"]
    assert await told(world) == ["monitor.down", "monitor.down"]


async def test_one_of_an_earlier_outage_is_left_alone(db: Db) -> None:
    world = await make_world(db)
    await submit(world, DOWN, DOWN, DOWN)
    await resolve_by_hand(world)
    await submit(world, UP)
    await maintain(world)
    await submit(world, DOWN, DOWN, DOWN)
    await world.run("DELETE FROM maintenance_spans")
    await turn(world, LATER)
    assert await world.value("SELECT down FROM monitors")
    assert await statuses(world) == ["resolved"]
