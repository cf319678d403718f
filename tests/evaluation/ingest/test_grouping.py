"""What comes together is decided as if it came one by one: whose batches share a transaction is chance."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from collector.evaluation.writer import ResultWriter, Submission
from collector.platform.storage.db import Db
from shared.ids import uuid7
from shared.results import Status
from tests.evaluation.world import World, make_world, new_incarnation, writing

pytestmark = pytest.mark.races

UP, DOWN = Status.UP, Status.DOWN


async def together(writer: ResultWriter, *submissions: Submission) -> list[Any]:
    return await asyncio.gather(*map(writer.submit, submissions), return_exceptions=True)


async def another_probe(world: World, team_id: int | None = None) -> World:
    """One that holds nothing; its incarnation is younger than that of the world's first probe."""
    probe_id = uuid7()
    await world.run(
        """
        INSERT INTO probes (probe_id, team_id, name, locations, session, seen_at, created_at)
        VALUES ($1, $2, 'other', '{}', $3, now(), now())
        """,
        probe_id,
        team_id,
        world.session,
    )
    twin = replace(world, probe_id=probe_id, seq=0)
    await new_incarnation(twin, 99)
    return twin


def planned(submission: Submission, **columns: int) -> Submission:
    """The same results as if made under another plan."""
    count = len(submission.batch.monitor)
    changed: dict[str, Any] = {name: [value] * count for name, value in columns.items()}
    return replace(submission, batch=replace(submission.batch, **changed))


async def test_an_older_incarnation_opens_nothing_beside_a_newer_one_that_spoke_before(db: Db) -> None:
    world = await make_world(db)
    old = world.batch(DOWN, DOWN, DOWN)
    await new_incarnation(world, -9)
    async with writing(world) as writer:
        await writer.submit(world.batch(UP))
        assert await together(writer, old, world.batch(UP)) == [True, True]
    assert await world.value("SELECT count(*) FROM results") == 5
    assert await world.value("SELECT count(*) FROM incidents") == 0


async def test_a_late_check_under_the_old_plan_does_not_hide_one_under_the_new(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE states SET revision = 2")
    new = planned(world.batch(DOWN, DOWN, DOWN), revision=2)
    async with writing(world) as writer:
        assert await together(writer, new, world.batch(UP)) == [True, True]
    assert await world.value("SELECT count(*) FROM results") == 4
    assert await world.value("SELECT fails FROM states") == 3
    assert await world.value("SELECT count(*) FROM incidents") == 1


async def test_the_probe_of_before_does_not_hide_what_the_present_one_sees(db: Db) -> None:
    world = await make_world(db)
    other = await another_probe(world)
    before = planned(other.batch(UP), assignment=1_000_000)
    async with writing(world) as writer:
        assert await together(writer, world.batch(DOWN, DOWN, DOWN), before) == [True, True]
    assert await world.value("SELECT count(*) FROM results") == 4
    assert await world.value("SELECT fails FROM states") == 3


async def test_a_probe_that_borrows_a_number_adds_nothing_to_a_streak(db: Db) -> None:
    world = await make_world(db)
    other = await another_probe(world)
    async with writing(world) as writer:
        await together(writer, world.batch(DOWN), other.batch(DOWN, DOWN, DOWN))
        await together(writer, other.batch(DOWN, DOWN, DOWN), world.batch(DOWN))
    assert await world.value("SELECT fails FROM states") == 2


async def test_another_teams_probe_cannot_hide_its_rows_behind_the_rightful_ones(db: Db) -> None:
    world = await make_world(db)
    team_id = await world.value(
        "INSERT INTO teams (id, name, plan, created_at) VALUES ($1, 'other', 'pro', now()) RETURNING team_id",
        uuid4(),
    )
    stranger = await another_probe(world, team_id)
    async with writing(world) as writer:
        assert await together(writer, world.batch(UP), stranger.batch(DOWN, DOWN)) == [True, True]
        await new_incarnation(world, 100)  # now the rightful one's results come last
        assert await together(writer, world.batch(UP), stranger.batch(DOWN, DOWN)) == [True, True]
    assert [row["status"] for row in await world.fetch("SELECT status FROM results")] == [1, 1]


async def test_cursors_of_two_writers_are_locked_in_one_order(db: Db) -> None:
    first = await make_world(db)
    worlds = [first, *[await another_probe(first) for _ in range(9)]]
    there = sorted(worlds, key=lambda world: world.probe_id)
    async with writing(first) as writer, writing(first) as other:
        for _ in range(20):
            forth = [world.batch(UP, ago=timedelta(seconds=2)) for world in there]
            back = forth[::-1]
            done = await asyncio.wait_for(
                asyncio.gather(together(writer, *forth), together(other, *back)), timeout=5
            )
            assert sorted(done[0] + done[1]) == [False] * 10 + [True] * 10
