"""From results to incidents and events: once per outage, with its right beginning and end."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.ids import uuid7
from shared.results import Status
from tests.evaluation.world import World, make_world, new_incarnation, writing

UP, DOWN = Status.UP, Status.DOWN


async def events(world: World) -> list[dict[str, Any]]:
    """Those of monitors' states."""
    rows = await world.fetch(
        "SELECT payload FROM events WHERE kind LIKE 'monitor.%' ORDER BY stream_id, sequence"
    )
    return [row["payload"] for row in rows]


async def timeline(world: World) -> list[tuple[str, str, str]]:
    rows = await world.fetch("SELECT type, actor, details FROM timeline ORDER BY n")
    return [(row["type"], row["actor"], row["details"]) for row in rows]


async def test_three_failures_open_one_incident_that_began_with_the_first(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, ago=timedelta(seconds=9)))
        await writer.submit(world.batch(DOWN, ago=timedelta(seconds=8)))
        await writer.submit(world.batch(DOWN, ago=timedelta(seconds=7)))
        assert await events(world) == []
        await writer.submit(world.batch(DOWN, ago=timedelta(seconds=5)))
        await writer.submit(world.batch(DOWN, ago=timedelta(seconds=1)))
    [incident] = await world.fetch("SELECT * FROM incidents")
    first = await world.value("SELECT min(ts) FROM results WHERE status = 2")
    assert incident["started_at"] == first
    assert incident["title"] == "api 1 is down"
    assert (incident["status"], incident["severity"], incident["failure_count"]) == ("open", "critical", 4)
    assert incident["last_error"] == "connect: refused by 127.0.0.1:1"
    [event] = await events(world)
    assert event["event"] == "monitor.down"
    assert event["monitor"] == {
        "id": ids.show("mon", world.ids[world.monitors[0]]),
        "name": "api 1",
        "type": "http",
        "url": "https://example.com/",
        "status": "down",
    }
    assert event["incident"] == {
        "id": ids.show("inc", incident["id"]),
        "severity": "critical",
        "consecutiveFailures": 3,
        "lastError": "connect: refused by 127.0.0.1:1",
        "downtime": 8,
    }
    assert await timeline(world) == [
        ("created", "System", "connect: refused by 127.0.0.1:1"),
        ("location_failing", "System", "local: connect: refused by 127.0.0.1:1"),
    ]
    assert world.told == 1


async def test_a_good_check_resolves_it_and_the_end_is_told(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, ago=timedelta(seconds=9)))
        await writer.submit(world.batch(UP, ago=timedelta(seconds=3)))
    [incident] = await world.fetch("SELECT * FROM incidents")
    good = await world.value("SELECT ts FROM results WHERE status = 1")
    assert incident["status"] == "resolved"
    assert incident["resolved_at"] == good
    assert incident["resolved_by"] == {"id": None, "name": "System"}
    assert incident["spans_s"] == 6
    down, up = await events(world)
    assert (down["event"], up["event"]) == ("monitor.down", "monitor.up")
    assert up["monitor"]["status"] == "up"
    assert up["incident"] == {
        "id": down["incident"]["id"],
        "severity": "critical",
        "downtimeSeconds": 6,
        "downtimeFormatted": "6s",
    }
    assert [entry[0] for entry in await timeline(world)][-2:] == ["location_recovered", "resolved"]
    assert await world.value("SELECT down OR told FROM monitors") is False


async def test_an_outage_that_began_and_ended_in_one_transaction_is_an_outage(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, DOWN, DOWN, DOWN, UP, DOWN, DOWN, UP))
    assert [event["event"] for event in await events(world)] == ["monitor.down", "monitor.up"]
    assert await world.value("SELECT count(*) FROM incidents WHERE status = 'resolved'") == 1


async def test_two_failures_and_a_good_check_are_nothing(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        for _ in range(4):
            await writer.submit(world.batch(DOWN, DOWN, UP))
    assert await world.value("SELECT count(*) FROM incidents") == 0
    assert await world.value("SELECT fails FROM states") == 0


async def test_failures_spread_over_batches_incarnations_and_writers_are_one_streak(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, ago=timedelta(seconds=8)))
    await new_incarnation(world, 99)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, ago=timedelta(seconds=5)))
        await writer.submit(world.batch(DOWN, ago=timedelta(seconds=2)))
    [incident] = await world.fetch("SELECT started_at FROM incidents")
    assert incident["started_at"] == await world.value("SELECT min(ts) FROM results")


@pytest.mark.parametrize(
    ("quorum", "failing", "opens"),
    [
        ("majority", 1, False),
        ("majority", 2, True),
        ("any", 1, True),
        ("all", 2, False),
        ("all", 3, True),
        ("1", 1, True),
        ("9", 3, True),
    ],
)
async def test_the_quorum_decides_how_many_locations_take_it_down(
    db: Db, quorum: str, failing: int, *, opens: bool
) -> None:
    places = ("eu", "us", "ap")
    world = await make_world(db, locations=places)
    await world.run("UPDATE monitors SET quorum = $1", quorum)
    async with writing(world) as writer:
        for place in places[:failing]:
            await writer.submit(world.batch(DOWN, DOWN, DOWN, location=place))
        for place in places[failing:]:
            await writer.submit(world.batch(UP, UP, UP, location=place))
    assert await world.value("SELECT count(*) FROM incidents") == opens
    assert [event["incident"]["consecutiveFailures"] for event in await events(world)] == (
        [3 * failing] if opens else []
    )


async def test_it_is_up_again_when_the_failing_fall_below_the_quorum(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us", "ap"))
    async with writing(world) as writer:
        for place in ("eu", "us"):
            await writer.submit(world.batch(DOWN, DOWN, DOWN, location=place))
        await writer.submit(world.batch(UP, location="us"))
    assert [event["event"] for event in await events(world)] == ["monitor.down", "monitor.up"]
    assert await world.value("SELECT failing FROM states WHERE location = $1", world.locations["eu"])


async def test_a_failure_soon_after_goes_on_with_the_same_incident(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, ago=timedelta(seconds=13)))
        await writer.submit(world.batch(UP, ago=timedelta(seconds=11)))
        await writer.submit(world.batch(DOWN, DOWN, DOWN, ago=timedelta(seconds=7)))
        await writer.submit(world.batch(UP, ago=timedelta(seconds=4)))
    [incident] = await world.fetch("SELECT status, spans_s, reopened_at FROM incidents")
    assert incident["status"] == "resolved"
    assert incident["reopened_at"] is not None
    assert incident["spans_s"] in {4, 5}
    assert [entry[0] for entry in await timeline(world)].count("reopened") == 1
    assert [event["event"] for event in await events(world)] == ["monitor.down", "monitor.up"] * 2


async def test_a_later_failure_is_an_incident_of_its_own(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, UP))
        await world.run("UPDATE incidents SET resolved_at = resolved_at - interval '6 minutes'")
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    assert await world.value("SELECT count(*) FROM incidents") == 2


async def test_what_somebody_resolved_by_hand_is_not_reopened_by_the_next_outage(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, UP))
        await world.run("UPDATE incidents SET resolved_by = $1", {"id": "usr_1", "name": "operator"})
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    assert await world.value("SELECT count(*) FROM incidents") == 2


async def test_late_results_open_and_end_nothing_but_count_in_the_streak(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, DOWN, ago=timedelta(minutes=3)))
        assert await events(world) == []
        await writer.submit(world.batch(DOWN, ago=timedelta(seconds=1)))
    assert len(await events(world)) == 1
    first = await world.value("SELECT min(ts) FROM results")
    assert await world.value("SELECT started_at FROM incidents") == first
    async with writing(world) as writer:
        await writer.submit(world.batch(UP, ago=timedelta(minutes=1)))
        assert await world.value("SELECT status FROM incidents") == "open"
        await writer.submit(world.batch(UP))
    assert await world.value("SELECT status FROM incidents") == "resolved"


async def test_a_silenced_monitor_has_its_incident_and_tells_nobody(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE monitors SET silenced_until = now() + interval '1 hour'")
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        assert await world.value("SELECT count(*) FROM incidents") == 1
        assert await events(world) == []
        await writer.submit(world.batch(UP))
    assert await events(world) == []


async def test_who_was_told_before_a_silence_is_told_of_the_end_within_it(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await world.run("UPDATE monitors SET silenced_until = now() + interval '1 hour'")
        await writer.submit(world.batch(UP))
    assert [event["event"] for event in await events(world)] == ["monitor.down", "monitor.up"]


async def test_a_paused_monitor_is_not_judged(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE monitors SET paused_at = now()")
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    assert await world.value("SELECT count(*) FROM incidents") == 0


async def test_with_no_voters_nothing_opens(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE probes SET seen_at = now() - interval '3 minutes'")
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    assert await world.value("SELECT count(*) FROM incidents") == 0


async def test_a_location_that_fell_silent_does_not_lower_the_bar(db: Db) -> None:
    world = await make_world(db, locations=("eu", "us"))
    lost = uuid7()
    await world.run(
        """
        INSERT INTO probes (probe_id, name, locations, seen_at, created_at)
        VALUES ($1, 'lost', '{us}', now() - interval '100 seconds', now())
        """,
        lost,
    )
    await world.run("UPDATE states SET probe_id = $1 WHERE location = $2", lost, world.locations["us"])
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN, location="eu"))
        assert await world.value("SELECT count(*) FROM incidents") == 0
        await world.run("UPDATE probes SET seen_at = now() - interval '3 minutes' WHERE probe_id = $1", lost)
        await writer.submit(world.batch(DOWN, location="eu"))
    assert await world.value("SELECT count(*) FROM incidents") == 1


async def test_an_outage_of_everything_is_one_incident_each(db: Db) -> None:
    world = await make_world(db, monitors=120, locations=("eu", "us"))
    keys = sorted(world.assignments)
    async with writing(world) as writer:
        await asyncio.gather(*[writer.submit(world.batch_of(keys, [DOWN] * len(keys))) for _ in range(4)])
        assert await world.value("SELECT count(*) FROM incidents WHERE status = 'open'") == 120
        await writer.submit(world.batch_of(keys, [UP] * len(keys)))
    assert await world.value("SELECT count(*) FROM incidents WHERE status = 'resolved'") == 120
    assert await world.value("SELECT count(*) FROM events") == 480
    assert await world.value("SELECT count(*) FROM streams WHERE sequence = 4") == 120


async def test_two_collectors_judge_one_monitor_without_a_second_incident(db: Db) -> None:
    places = ("eu", "us", "ap")
    world = await make_world(db, locations=places)
    await world.run("UPDATE monitors SET quorum = 'any'")
    others = [await _second_probe(world, place) for place in places]
    async with writing(world) as writer, writing(world) as other, writing(world) as third:
        writers = (writer, other, third)
        submissions = [
            each.submit(w.batch(DOWN, DOWN, DOWN, location=place))
            for each, place, w in zip(writers, places, others, strict=True)
        ]
        assert all(await asyncio.gather(*submissions))
    assert await world.value("SELECT count(*) FROM incidents") == 1
    assert len(await events(world)) == 1
    assert await world.value("SELECT count(*) FROM states WHERE failing") == 3


async def _second_probe(world: World, place: str) -> World:
    """A probe of its own for one location of the world."""
    probe_id = uuid7()
    await world.run(
        """
        INSERT INTO probes (probe_id, name, locations, session, seen_at, created_at)
        VALUES ($1, $2, ARRAY[$2], $3, now(), now())
        """,
        probe_id,
        place,
        world.session,
    )
    await world.run("UPDATE states SET probe_id = $1 WHERE location = $2", probe_id, world.locations[place])
    twin = World(
        world.db,
        world.team_id,
        probe_id,
        world.session,
        world.monitors,
        world.ids,
        world.locations,
        world.assignments,
    )
    await new_incarnation(twin, 1)
    return twin


async def test_the_timeline_refuses_any_change(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    for statement in ("UPDATE timeline SET details = ''", "DELETE FROM timeline", "TRUNCATE timeline"):
        with pytest.raises(Exception, match="append-only"):
            await world.run(statement)
    assert await world.value("SELECT now() > $1", utc_now() - timedelta(days=1))
