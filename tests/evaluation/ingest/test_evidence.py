"""The failing checks that confirmed an outage stay with its incident, whatever becomes of the rest."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from collector.evaluation.writer import Submission
from collector.incidents.service import evidence
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from shared.evidence import HIDDEN, Evidence
from shared.results import Status
from shared.tokens import new_key
from tests.evaluation.world import World, make_world, writing

pytestmark = pytest.mark.races

UP, DOWN = Status.UP, Status.DOWN
SEEN = Evidence("192.0.2.1:443", (("Server", "shop"), ("Set-Cookie", "sid=1")), "busy, password=hunter2")


def telling(submission: Submission, seen: Evidence = SEEN) -> Submission:
    """The same batch with evidence beside each of its failures."""
    batch = submission.batch
    told = {i: seen for i, status in enumerate(batch.outcome) if status is DOWN}
    return replace(submission, batch=replace(batch, evidence=told))


async def kept(world: World) -> list[dict[str, Any]]:
    return await world.fetch("SELECT * FROM incident_evidence ORDER BY at, location")


async def test_an_incident_keeps_what_its_confirming_checks_saw(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(telling(world.batch(UP, DOWN, DOWN)))
        assert await kept(world) == []
        await writer.submit(telling(world.batch(DOWN)))
        await writer.submit(world.batch(DOWN, DOWN))
    [incident] = await world.fetch("SELECT * FROM incidents")
    rows = await kept(world)
    assert {(row["team_id"], row["incident_id"], row["location"]) for row in rows} == {
        (world.team_id, incident["id"], "local")
    }
    assert [row["at"] for row in rows] == [
        row["ts"] for row in await world.fetch("SELECT ts FROM results WHERE status = 2 ORDER BY ts LIMIT 3")
    ]
    assert rows[0]["saw"] == {
        "run": "scheduled",
        "address": "192.0.2.1:443",
        "statusCode": None,
        "error": "connect: refused by 127.0.0.1:1",
        "responseTime": 3,
        "phases": {"dns": 0.0, "connect": 0.1, "tls": 0.2, "firstByte": None, "transfer": None},
        "headers": [{"name": "Server", "value": "shop"}, {"name": "Set-Cookie", "value": HIDDEN}],
        "body": f"busy, password={HIDDEN}",
    }


async def test_a_streak_that_a_good_check_broke_is_no_evidence(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(telling(world.batch(DOWN, DOWN, ago=timedelta(seconds=9)), Evidence("old")))
        await writer.submit(world.batch(UP, ago=timedelta(seconds=5)))
        await writer.submit(telling(world.batch(DOWN, DOWN, DOWN)))
    assert [row["saw"]["address"] for row in await kept(world)] == ["192.0.2.1:443"] * 3


async def test_a_location_that_joins_later_adds_what_it_saw(db: Db) -> None:
    world = await make_world(db, locations=("ap", "eu", "us"))
    async with writing(world) as writer:
        for number, location in enumerate(("ap", "eu", "us")):
            seen = Evidence(f"192.0.2.{number}:443")
            await writer.submit(telling(world.batch(DOWN, DOWN, DOWN, location=location), seen))
            assert len({row["location"] for row in await kept(world)}) == (0, 2, 3)[number]
    assert len(await kept(world)) == 9


async def test_a_probe_that_tells_much_of_one_place_is_remembered_a_little(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        for _ in range(4):
            await writer.submit(telling(world.batch(DOWN, UP)))
            await writer.submit(telling(world.batch(DOWN, DOWN, UP)))
    assert await world.value("SELECT max(cardinality(newest)) FROM failures") == 4
    assert await world.value("SELECT count(*) FROM failures") == 1


async def test_one_transaction_takes_no_more_evidence_than_others_can_wait_for(db: Db) -> None:
    world = await make_world(db, monitors=300)
    keys = [(monitor, world.locations["local"]) for monitor in world.monitors]
    async with writing(world) as writer:
        await writer.submit(telling(world.batch_of(keys, [DOWN] * 300)))
    assert await world.value("SELECT count(*) FROM failures") == 200
    assert await world.value("SELECT count(*) FROM results") == 300


async def test_what_a_check_under_an_old_plan_saw_is_not_kept(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE states SET revision = 2")
    async with writing(world) as writer:
        await writer.submit(telling(world.batch(DOWN, DOWN, DOWN)))
    assert await world.value("SELECT count(*) FROM failures") == 0


async def test_evidence_beside_a_good_result_is_passed_over(db: Db) -> None:
    world = await make_world(db)
    submission = world.batch(UP, DOWN)
    submission = replace(submission, batch=replace(submission.batch, evidence={0: SEEN}))
    async with writing(world) as writer:
        assert await writer.submit(submission)
    assert await world.value("SELECT count(*) FROM failures") == 0


@pytest.mark.oldest
async def test_evidence_stays_with_its_own_result_when_others_are_refused(db: Db) -> None:
    world = await make_world(db, monitors=2)
    first, second = world.monitors
    where = world.locations["local"]
    submission = telling(world.batch_of([(first, where), (second, where)], [DOWN, DOWN]))
    bad = replace(submission.batch, phases=[b"", b""], code=[70_000, 0])
    async with writing(world) as writer:
        assert await writer.submit(replace(submission, batch=bad))
    assert [row["monitor"] for row in await world.fetch("SELECT monitor FROM failures")] == [second]


async def test_it_outlives_its_results_and_its_monitor(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(telling(world.batch(DOWN, DOWN, DOWN)))
    for table in ("results", "failures", "states", "monitors"):
        await world.run(f"DELETE FROM {table}")
    incident = await world.value("SELECT id FROM incidents")
    async with db.connection() as tx:
        shown = await evidence.shown(
            tx, Keyring.parse(new_key()), world.team_id, incident, world.ids[world.monitors[0]]
        )
    assert len(shown) == 3
