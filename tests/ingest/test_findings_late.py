"""What comes of a probe after another took over: told, unless who goes on finds it too."""

from dataclasses import replace

import orjson
import pytest

from collector.ingest.writer import Submission
from collector.storage.db import Db
from shared.findings import Finding
from tests.ingest.web3 import EVENTS, finding, gone, heard, log, of_chains, submit
from tests.ingest.world import World, make_world, new_incarnation


def of_line(world: World, id_: str, first: int, *found: Finding) -> Submission:
    """A good check on that line."""
    submission = finding(world, *found)
    state = orjson.dumps({"raised": [], "more": {"line": [id_, first, first]}})
    return replace(submission, batch=replace(submission.batch, state={0: state}))


def under(assignment: int, submission: Submission) -> Submission:
    """As of that assignment."""
    return replace(submission, batch=replace(submission.batch, assignment=[assignment]))


async def handed_over(world: World) -> int:
    """Another assignment holds from now on; the one before it."""
    before = world.assignments[world.monitors[0], world.locations["local"]]
    number = await world.value(
        "UPDATE states SET assignment = nextval('assignment_numbers') RETURNING assignment"
    )
    world.assignments[world.monitors[0], world.locations["local"]] = number
    return before


async def blocks(world: World) -> list[tuple[int, bool]]:
    """What was told: the number of the block of each, and whether it is taken back."""
    return [(one["log"]["blockNumber"], one["log"]["removed"]) for one in await heard(world)]


@pytest.fixture
async def world(db: Db) -> World:
    return await of_chains(await make_world(db), EVENTS)


async def test_a_log_of_a_branch_that_nobody_knew_is_not_told_after_who_goes_on_read_its_block(
    world: World,
) -> None:
    await submit(world, of_line(world, "one", 5, log("t1", 5)))
    before = await handed_over(world)
    await submit(
        world,
        of_line(world, "two", 6, log("t3", 8, branch="b"), gone(6, 8)),
        under(before, of_line(world, "one", 5, log("t2", 6), log("t3", 7))),
    )
    assert await blocks(world) == [(5, False), (8, False)]


async def test_a_log_that_came_before_who_goes_on_had_looked_is_taken_back(world: World) -> None:
    await submit(world, of_line(world, "one", 5, log("t1", 5)))
    late = of_line(world, "one", 5, log("t2", 6), log("t3", 7))
    await handed_over(world)
    await submit(world, late)
    assert await blocks(world) == [(5, False), (6, False), (7, False)]
    await submit(world, of_line(world, "two", 6, log("t3", 8, branch="b"), gone(6, 8)))
    assert await blocks(world) == [(5, False), (6, False), (7, False), (6, True)]


async def test_what_lies_before_the_line_that_goes_on_counts_however_late_it_comes(world: World) -> None:
    """Nothing was kept yet when the assignment changed: who took over began at the head."""
    before = await handed_over(world)
    await submit(
        world,
        of_line(world, "two", 9, log("t3", 10)),
        under(before, of_line(world, "one", 5, log("t1", 5), log("t2", 9))),
    )
    assert sorted(await blocks(world)) == [(5, False), (10, False)]


async def test_what_one_process_sends_late_since_its_news_overtook_it_counts(world: World) -> None:
    old = of_line(world, "one", 5, log("t1", 5))
    await new_incarnation(world, 99)
    await submit(world, of_line(world, "one", 5, log("t2", 6)), old)
    assert sorted(await blocks(world)) == [(5, False), (6, False)]


async def test_what_a_process_left_that_ended_is_found_by_the_next_one(world: World) -> None:
    old = of_line(world, "one", 5, log("t1", 5))
    await new_incarnation(world, 99)
    await submit(world, of_line(world, "two", 5, log("t1", 6, branch="b")), old)
    assert await blocks(world) == [(6, False)]
