"""What holds a monitor's news back, from the results to the events: windows, parents, flapping, degraded."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.evaluation.core.decision import DEGRADED_AFTER
from collector.evaluation.jobs.holds import Holds
from collector.evaluation.jobs.recheck import Verdicts
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.ids import uuid7
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

UP, DOWN = Status.UP, Status.DOWN
HUNG = "connect: timed out after 10 s to 192.0.2.1:443"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


async def turn(world: World, ahead: timedelta = timedelta()) -> None:
    """What time brings: of verdicts, and of what tells, so much later; probes are still heard, and check."""

    def now() -> datetime:
        return utc_now() + ahead

    await world.run("UPDATE probes SET seen_at = $1", now())
    await world.run("UPDATE states SET last_at = last_at + $1::interval", ahead)
    since = utc_now() - timedelta(hours=1)
    await Verdicts(world.db, clock=GivenClock(now, lambda: since)).turn()
    await Holds(world.db, clock=GivenClock(now)).turn()
    await world.run("UPDATE probes SET seen_at = now()")
    await world.run("UPDATE states SET last_at = last_at - $1::interval", ahead)


async def told(world: World, monitor: int | None = None) -> list[str]:
    id_ = world.ids[monitor or world.monitors[0]]
    rows = await world.fetch(
        "SELECT kind FROM events WHERE kind LIKE 'monitor.%' AND stream_id = $1 ORDER BY sequence", id_
    )
    return [row["kind"] for row in rows]


async def payloads(world: World, kind: str) -> list[dict[str, Any]]:
    rows = await world.fetch("SELECT payload FROM events WHERE kind = $1 ORDER BY position", kind)
    return [row["payload"] for row in rows]


async def maintain(world: World, until: timedelta = 10 * MINUTE) -> datetime:
    """A window for all monitors of the team, from a minute ago on."""
    ends_at = utc_now() + until
    await world.run(
        """
        INSERT INTO maintenance_spans (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
        VALUES ($1, $2, now() - interval '1 minute', $3, true, '{}', '{}', '{}')
        """,
        world.team_id,
        uuid7(),
        ends_at,
    )
    return ends_at


async def test_under_maintenance_none_opens_and_at_its_end_one_does_and_is_told(db: Db) -> None:
    world = await make_world(db)
    ends_at = await maintain(world)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    await turn(world)
    assert await world.value("SELECT count(*) FROM incidents") == 0
    assert await world.value("SELECT down FROM monitors")
    assert await told(world) == []

    await turn(world, 11 * MINUTE)
    [incident] = await world.fetch("SELECT * FROM incidents")
    assert incident["started_at"] == ends_at
    assert await told(world) == ["monitor.down"]
    assert await world.value("SELECT count(*) FROM outages WHERE location = 0") == 1


async def test_an_outage_within_the_window_is_told_to_nobody(db: Db) -> None:
    world = await make_world(db)
    await maintain(world)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, UP))
    await turn(world, 11 * MINUTE)
    assert await world.value("SELECT count(*) FROM incidents") == 0
    assert await told(world) == []
    assert await world.value("SELECT unrecorded_until FROM monitors") is None


async def test_who_was_told_before_the_window_is_told_of_the_end_within_it(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await maintain(world)
        await writer.submit(world.batch(UP))
    assert await told(world) == ["monitor.down", "monitor.up"]


async def family(db: Db) -> tuple[World, int, int]:
    """A parent and its child, both well."""
    world = await make_world(db, monitors=2)
    parent, child = world.monitors
    depends_on = [world.ids[parent]]
    await world.run("UPDATE monitors SET depends_on = $1 WHERE monitor = $2", depends_on, child)
    return world, parent, child


async def of(world: World, monitor: int) -> dict[str, Any]:
    [incident] = await world.fetch("SELECT * FROM incidents WHERE monitor_id = $1", world.ids[monitor])
    return incident


async def logged(world: World, incident_id: UUID) -> list[str]:
    rows = await world.fetch("SELECT type FROM timeline WHERE incident_id = $1 ORDER BY n", incident_id)
    return [row["type"] for row in rows]


async def test_while_its_parent_is_down_a_child_s_incident_is_recorded_linked_and_not_told(db: Db) -> None:
    world, parent, child = await family(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, monitor=parent))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, monitor=child))
    await turn(world)
    incident = await of(world, child)
    assert incident["parent_incident_id"] == (await of(world, parent))["id"]
    assert "parent_down" in await logged(world, incident["id"])
    assert (await told(world, parent), await told(world, child)) == (["monitor.down"], [])

    async with writing(world) as writer:
        await writer.submit(world.batch(UP, monitor=parent, ago=timedelta()))
        await turn(world)
        assert await told(world, child) == []  # it may be well by now: nobody has looked
        await writer.submit(world.batch(DOWN, monitor=child, ago=-SECOND))
    await turn(world)
    assert await told(world, child) == ["monitor.down"]


async def test_a_child_that_comes_up_with_its_parent_is_never_told_of(db: Db) -> None:
    world, parent, child = await family(db)
    async with writing(world) as writer:
        await writer.submit(world.batch_of([(parent, 1), (child, 1)] * 3, [DOWN] * 6))
        await turn(world)
        await writer.submit(world.batch_of([(parent, 1), (child, 1)], [UP] * 2, ago=timedelta()))
    await turn(world, MINUTE)
    assert (await told(world, parent), await told(world, child)) == (["monitor.down", "monitor.up"], [])
    assert (await of(world, child))["status"] == "resolved"


async def test_a_child_waits_for_the_verdict_on_a_parent_that_may_be_down_fifteen_seconds_at_most(
    db: Db,
) -> None:
    world, parent, child = await family(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, monitor=parent, ago=30 * SECOND))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, monitor=child))
    await turn(world, 14 * SECOND)
    assert await told(world, child) == []
    await turn(world, 16 * SECOND)
    assert await told(world, child) == ["monitor.down"]


async def test_a_parent_found_down_meanwhile_is_linked_then(db: Db) -> None:
    world, parent, child = await family(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, monitor=child))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, monitor=parent))
    await turn(world)
    await turn(world, MINUTE)
    incident = await of(world, child)
    assert incident["parent_incident_id"] == (await of(world, parent))["id"]
    assert (await logged(world, incident["id"])).count("parent_down") == 1
    assert await told(world, child) == []


async def test_a_parent_that_was_checked_since_and_is_well_holds_nothing(db: Db) -> None:
    world, parent, child = await family(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, monitor=child, ago=2 * SECOND))
        await writer.submit(world.batch(UP, monitor=parent, ago=SECOND))
        await writer.submit(world.batch(DOWN, monitor=child, ago=SECOND))
    assert await told(world, child) == ["monitor.down"]


async def test_some_locations_failing_is_told_once_and_so_is_its_end(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        for place in ("us", "ap"):
            await writer.submit(world.batch(UP, location=place))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        await turn(world)
        assert await told(world) == []
        for _ in range(2):
            await turn(world, DEGRADED_AFTER + SECOND)
        assert await told(world) == ["monitor.degraded"]
        await writer.submit(world.batch(UP, location="eu"))
    for _ in range(2):
        await turn(world)
    begins, ends = await payloads(world, "monitor.degraded")
    assert (begins["degraded"], ends["degraded"]) == (True, False)
    assert [(begin["location"], begin["failing"]) for begin in begins["locationStates"]] == [
        ("eu", True),
        ("us", False),
        ("ap", False),
    ]
    assert await world.value("SELECT count(*) FROM incidents") == 0


@pytest.mark.oldest
async def test_on_the_way_down_and_up_nobody_is_told_that_some_locations_fail(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        for status in (DOWN, UP):
            for place in ("eu", "us", "ap"):
                await writer.submit(world.batch(status, status, status, location=place))
                await turn(world)
    await turn(world, MINUTE)
    assert await told(world) == ["monitor.down", "monitor.up"]


async def test_one_that_flaps_has_one_notice_and_one_incident_until_it_is_calm(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        for _ in range(6):
            await writer.submit(world.batch(DOWN, DOWN, DOWN, UP))
            await turn(world)
    assert await told(world) == ["monitor.down", "monitor.up"] * 3 + ["monitor.flapping"]
    [incident] = await world.fetch("SELECT id, status FROM incidents")
    assert incident["status"] == "open"
    await turn(world, 9 * MINUTE)
    assert len(await told(world)) == 7
    await turn(world, 11 * MINUTE)
    assert await world.value("SELECT status FROM incidents") == "resolved"
    begins, ends = await payloads(world, "monitor.flapping")
    assert (begins["flapping"], ends["flapping"]) == (True, False)
    assert await told(world) == ["monitor.down", "monitor.up"] * 3 + ["monitor.flapping"] * 2


async def test_one_that_flapped_and_stays_down_is_told_of_then(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        for _ in range(3):
            await writer.submit(world.batch(DOWN, DOWN, DOWN, UP))
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    await turn(world)
    await turn(world, 11 * MINUTE)
    assert (await told(world)).count("monitor.down") == 4
    assert await world.value("SELECT status FROM incidents") == "open"


async def test_where_another_location_fails_already_a_check_that_hangs_needs_one_failure_less(
    db: Db,
) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, location="ap"))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu", error=HUNG))
        await writer.submit(world.batch(DOWN, location="us", error=HUNG))
        assert not await world.value("SELECT down FROM monitors")
        await writer.submit(world.batch(DOWN, location="us", error=HUNG))
    assert await world.value("SELECT down FROM monitors")


async def test_one_that_hung_so_often_before_does_not_wait_for_another_check(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, DOWN, location="ap", error=HUNG))
        await writer.submit(world.batch(DOWN, DOWN, location="us", error=HUNG))
        assert not await world.value("SELECT down FROM monitors")
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu", error=HUNG))
    assert await world.value("SELECT down FROM monitors")
    assert await world.value("SELECT count(*) FROM outages WHERE ended_at IS NULL") == 3
    assert await world.value("SELECT failure_count FROM incidents") == 6


@pytest.mark.parametrize(
    ("error", "ago"),
    [
        pytest.param("connect: refused by 192.0.2.1:443", SECOND, id="it did not hang"),
        pytest.param("connect: timed out after 10 s to 192.0.2.1:443", MINUTE, id="it came late"),
    ],
)
async def test_one_that_failed_otherwise_or_long_ago_does(db: Db, error: str, ago: timedelta) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, location="us", error=error, ago=ago))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu", error=HUNG))
    assert not await world.value("SELECT down FROM monitors")


async def test_a_blind_probe_s_location_is_no_voter_two_minutes_later(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE probes SET blind_since = now() - interval '3 minutes'")
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        assert await world.value("SELECT count(*) FROM incidents") == 0
        await world.run("UPDATE probes SET blind_since = now() - interval '1 minute'")
        await writer.submit(world.batch(DOWN))
    assert await world.value("SELECT count(*) FROM incidents") == 1


async def test_after_a_resume_nobody_is_told_before_something_was_measured(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE monitors SET silenced_until = now() + interval '1 hour'")
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await world.run("UPDATE monitors SET silenced_until = NULL")
        await world.run("UPDATE states SET last_at = NULL")
        await turn(world)
        assert await told(world) == []
        await writer.submit(world.batch(DOWN))
    await turn(world)
    assert await told(world) == ["monitor.down"]


async def test_after_a_resume_bad_goes_on_with_the_same_incident_and_good_ends_it(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await world.run("UPDATE states SET last_at = NULL")
        await turn(world)
        await writer.submit(world.batch(DOWN))
        await turn(world)
        assert await told(world) == ["monitor.down"]
        await writer.submit(world.batch(UP))
    assert await told(world) == ["monitor.down", "monitor.up"]
    assert await world.value("SELECT count(*) FROM incidents WHERE status = 'resolved'") == 1


async def test_what_becomes_of_an_incident_is_an_event_of_its_own(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await writer.submit(world.batch(UP))
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    rows = await world.fetch("SELECT kind, payload, incident_id FROM events ORDER BY position")
    kinds = ["monitor.down", "incident.created", "monitor.up", "incident.resolved"]
    assert [row["kind"] for row in rows] == [*kinds, "monitor.down", "incident.reopened"]
    [id_] = {row["incident_id"] for row in rows}
    created, resolved = rows[1]["payload"], rows[3]["payload"]
    assert created["actor"] == {"id": None, "name": "System"}
    assert created["monitor"]["id"] == ids.show("mon", world.ids[world.monitors[0]])
    assert created["incident"]["id"] == ids.show("inc", id_)
    assert (created["incident"]["status"], resolved["incident"]["status"]) == ("open", "resolved")
    assert created["incident"]["failureCount"] == 3
