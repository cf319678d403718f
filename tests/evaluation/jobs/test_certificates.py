"""A certificate that expires soon is announced once, when nothing holds it back, by the first collector."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from collector.platform.storage.db import Db
from shared import ids
from shared.clock import EPOCH, iso
from shared.results import Status
from tests.evaluation.certificates import ENDS, certificates, fine, keeping, near, of_certificates, submit
from tests.evaluation.world import World, make_world, new_incarnation, writing

UP, DOWN = Status.UP, Status.DOWN
DAY_S = 86_400


async def told(world: World) -> list[dict[str, Any]]:
    rows = await world.fetch(
        "SELECT payload FROM events WHERE kind = 'certificate.expiring' ORDER BY stream_id, sequence"
    )
    return [row["payload"] for row in rows]


async def test_it_is_told_with_the_days_that_are_left(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world, count=3))
    await certificates(world).turn()
    [event] = await told(world)
    incident = await world.value("SELECT id FROM incidents")
    assert event["certificate"] == {
        "endsAt": iso(EPOCH + timedelta(seconds=ENDS)),
        "daysLeft": 9,
        "expiryDays": 14,
    }
    assert event["incident"] == {"id": ids.show("inc", incident), "severity": "medium"}
    assert event["monitor"]["type"] == "tls"
    assert event["monitor"]["status"] == "down"


async def test_it_is_told_before_a_failure_is_confirmed(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world))
    await certificates(world).turn()
    [event] = await told(world)
    assert (event["incident"], event["monitor"]["status"]) == (None, "up")


async def test_once_for_a_certificate_however_many_see_and_tell_it(db: Db) -> None:
    world = await of_certificates(await make_world(db, locations=("ap", "eu", "us")))
    tellers = [certificates(world) for _ in range(3)]
    for round_ in range(3):
        async with writing(world) as writer, writing(world) as other:
            await writer.submit(near(world, location="ap"))
            await other.submit(near(world, location="eu"))
            await writer.submit(near(world, location="us"))
        await asyncio.gather(*(teller.turn() for teller in tellers))
        await new_incarnation(world, 100 + round_)
    assert len(await told(world)) == 1


async def test_again_for_another_certificate_and_for_another_threshold(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world))
    await certificates(world).turn()
    await submit(world, near(world, ends=ENDS + DAY_S))
    await certificates(world).turn()
    await of_certificates(world, days=20)
    await submit(world, near(world, ends=ENDS + DAY_S))
    await certificates(world).turn()
    assert [
        (item["certificate"]["daysLeft"], item["certificate"]["expiryDays"]) for item in await told(world)
    ] == [
        (9, 14),
        (10, 14),
        (10, 20),
    ]


@pytest.mark.oldest
async def test_a_renewed_certificate_is_told_of_when_it_nears_its_own_end(db: Db) -> None:
    world = await of_certificates(await make_world(db), days=None)
    await submit(world, near(world))
    await certificates(world).turn()
    await submit(world, fine(world, ends=ENDS + 90 * DAY_S))
    await certificates(world).turn()
    assert len(await told(world)) == 1
    await submit(world, near(world, ends=ENDS + 90 * DAY_S))
    await certificates(world).turn()
    assert len(await told(world)) == 2


@pytest.mark.parametrize(
    ("hold", "release"),
    [
        pytest.param(
            "UPDATE monitors SET silenced_until = now() + interval '1 hour'",
            "UPDATE monitors SET silenced_until = NULL",
            id="silenced",
        ),
        pytest.param(
            "UPDATE monitors SET flapping_since = now(), turned_at = ARRAY[now()]",
            "UPDATE monitors SET flapping_since = NULL",
            id="flapping",
        ),
        pytest.param(
            """
            INSERT INTO maintenance_spans
                (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
            SELECT team_id, gen_random_uuid(), now() - interval '1 hour', now() + interval '1 hour', true,
                '{}', '{}', '{}' FROM teams
            """,
            "DELETE FROM maintenance_spans",
            id="maintenance",
        ),
    ],
)
async def test_what_is_held_back_is_told_at_the_end_of_the_hold(db: Db, hold: str, release: str) -> None:
    world = await of_certificates(await make_world(db))
    await world.run(hold)
    await submit(world, near(world))
    await certificates(world).turn()
    assert await told(world) == []
    await world.run(release)
    await certificates(world).turn()
    assert len(await told(world)) == 1


async def test_a_certificate_that_was_renewed_while_it_was_held_back_is_told_to_nobody(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await world.run("UPDATE monitors SET silenced_until = now() + interval '1 hour'")
    await submit(world, near(world), fine(world, ends=ENDS + 90 * DAY_S))
    await world.run("UPDATE monitors SET silenced_until = NULL")
    await certificates(world).turn()
    assert await told(world) == []


async def test_a_paused_monitor_tells_nothing(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world))
    await world.run("UPDATE monitors SET paused_at = now()")
    await certificates(world).turn()
    assert await told(world) == []


async def test_late_results_and_those_of_an_older_revision_tell_nothing(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world, ago=timedelta(minutes=5)))
    await world.run("UPDATE states SET revision = 2")
    await submit(world, near(world))
    await certificates(world).turn()
    assert await told(world) == []


async def test_a_target_with_another_certificate_for_each_check_is_told_of_ten_times_a_day(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    for number in range(14):
        await submit(world, near(world, ends=ENDS + number))
        await certificates(world).turn()
    assert len(await told(world)) == 10
    await world.run("UPDATE certificate_warnings SET found_at = found_at - interval '1 day'")
    await submit(world, near(world, ends=ENDS + 20))
    await certificates(world).turn()
    assert len(await told(world)) == 11


async def test_what_ended_long_ago_is_forgotten(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world))
    await certificates(world, ahead=timedelta(days=16)).turn()
    assert await world.value("SELECT count(*) FROM certificate_warnings") == 1
    await certificates(world, ahead=timedelta(days=17)).turn()
    assert await world.value("SELECT count(*) FROM certificate_warnings") == 0


async def test_more_than_one_page_of_them_is_told(db: Db) -> None:
    world = await of_certificates(await make_world(db, monitors=130))
    keys = sorted(world.assignments)
    submission = near(world)
    async with writing(world) as writer:
        batch = world.batch_of(keys, [DOWN] * len(keys), error=submission.batch.errors[0], seq=1)
        await writer.submit(keeping(batch, submission.batch.state[0]))
    teller = certificates(world)
    assert await teller.turn() is True
    assert await teller.turn() is False
    assert len(await told(world)) == 130


async def test_a_monitor_that_is_deleted_takes_its_warnings_along(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world))
    await world.run("DELETE FROM states")
    await world.run("DELETE FROM monitors")
    assert await world.value("SELECT count(*) FROM certificate_warnings") == 0
