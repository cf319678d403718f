"""A certificate that only comes near its end: less grave than a failure, until more is wrong."""

from typing import Any

import pytest

from collector.platform.storage.db import Db
from shared.results import Status
from tests.evaluation.certificates import (
    ENDS,
    EXPIRED,
    NEARS,
    REFUSED,
    fine,
    keeping,
    near,
    of_certificates,
    submit,
)
from tests.evaluation.world import World, make_world

UP, DOWN = Status.UP, Status.DOWN


async def severities(world: World) -> list[str]:
    return [
        row["severity"] for row in await world.fetch("SELECT severity FROM incidents ORDER BY created_at")
    ]


async def changes(world: World) -> list[str]:
    rows = await world.fetch("SELECT details FROM timeline WHERE type = 'severity_changed' ORDER BY n")
    return [row["details"] for row in rows]


async def down(world: World) -> dict[str, Any]:
    payload: dict[str, Any] = await world.value("SELECT payload FROM events WHERE kind = 'monitor.down'")
    return payload


async def test_an_incident_of_a_certificate_that_nears_its_end_is_of_medium_severity(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world, count=3))
    assert await severities(world) == ["medium"]
    assert (await down(world))["incident"]["severity"] == "medium"
    assert (await down(world))["incident"]["lastError"] == NEARS


@pytest.mark.parametrize("error", [EXPIRED, REFUSED])
async def test_one_of_a_certificate_that_is_over_or_not_to_be_had_is_as_grave_as_its_monitor(
    db: Db, error: str
) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, world.batch(DOWN, DOWN, DOWN, error=error))
    assert await severities(world) == ["critical"]


async def test_what_some_other_type_of_monitor_says_is_no_certificate(db: Db) -> None:
    world = await of_certificates(await make_world(db), type_="smtp")
    await submit(world, near(world, count=3))
    assert await severities(world) == ["critical"]
    assert await world.value("SELECT count(*) FROM certificate_warnings") == 0


async def test_it_becomes_as_grave_as_its_monitor_once_more_is_confirmed(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world, count=3))
    await submit(world, world.batch(DOWN, DOWN, error=EXPIRED))
    assert await severities(world) == ["medium"]
    await submit(world, world.batch(DOWN, error=EXPIRED))
    await submit(world, world.batch(DOWN, error=EXPIRED))
    assert (await severities(world), await changes(world)) == (["critical"], ["medium to critical"])


async def test_a_check_that_fails_otherwise_now_and_then_changes_nothing(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world, count=3))
    for _ in range(4):
        await submit(world, world.batch(DOWN, error=REFUSED), near(world))
    assert (await severities(world), await changes(world)) == (["medium"], [])


@pytest.mark.oldest
async def test_a_severity_that_somebody_set_stays(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world, count=3))
    await world.run(
        """
        INSERT INTO timeline (team_id, incident_id, at, type, actor, details)
        SELECT team_id, id, now(), 'severity_changed', 'Ada', 'low to medium' FROM incidents
        """
    )
    await submit(world, world.batch(DOWN, DOWN, DOWN, DOWN, error=EXPIRED))
    assert await severities(world) == ["medium"]


async def test_one_that_began_as_a_failure_is_not_made_less_of(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, world.batch(DOWN, DOWN, DOWN, error=REFUSED))
    await submit(world, near(world, count=4))
    assert await severities(world) == ["critical"]


async def test_where_one_location_cannot_connect_it_is_a_failure(db: Db) -> None:
    world = await of_certificates(await make_world(db, locations=("eu", "us")))
    await submit(world, near(world, count=3, location="eu"))
    await submit(world, world.batch(DOWN, DOWN, DOWN, error=REFUSED, location="us"))
    assert await severities(world) == ["critical"]


async def test_a_renewed_certificate_ends_it(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, near(world, count=3), fine(world, ends=ENDS + 90 * 86_400))
    kinds = [row["kind"] for row in await world.fetch("SELECT kind FROM events ORDER BY position")]
    assert [kind for kind in kinds if kind.startswith("monitor.")] == ["monitor.down", "monitor.up"]


@pytest.mark.parametrize(
    "state", [b"", b"123456789", b"\x01" + b"\x7f" * 8, b"\x01" + b"\xff" * 8, b"x" * 600]
)
async def test_a_state_that_tells_of_no_moment_is_passed_over(db: Db, state: bytes) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, keeping(world.batch(DOWN, DOWN, DOWN, error=NEARS), state))
    assert await world.value("SELECT count(*) FROM results") == 3
    assert await world.value("SELECT count(*) FROM certificate_warnings WHERE ends_at > now() + '9 y'") == 0


async def test_a_checkpoint_that_stays_the_same_is_not_written_again(db: Db) -> None:
    world = await of_certificates(await make_world(db))
    await submit(world, fine(world, ends=ENDS))
    await world.run("UPDATE states SET fails = 7, failing = false")
    kept = await world.value("SELECT checkpoint FROM states")
    await submit(world, fine(world, ends=ENDS), fine(world, ends=ENDS + 1))
    assert await world.value("SELECT checkpoint FROM states") != kept
