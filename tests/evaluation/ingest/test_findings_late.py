"""Findings of a probe after another took over: announced, unless the other reports them, too."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import orjson
import pytest

from collector.evaluation.writer import Submission
from collector.platform.storage.db import Db
from shared.findings import Finding
from shared.results import Status
from tests.evaluation.world import World, make_world, new_incarnation
from tests.web3.ground import EVENTS, finding, gone, hash_of, heard, log, of_chains, submit


def of_line(
    world: World, id_: str, first: int, *findings: Finding, over: Sequence[tuple[str, int, int, int]] = ()
) -> Submission:
    """A good check on that line, which met so many forks of its own as are in *over*."""
    submission = finding(world, *findings)
    forks = sum(one[0] == id_ for one in over)
    more = {"line": [id_, first, first, first, forks], "over": over}
    state = orjson.dumps({"raised": [], "more": more})
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
    """The announced logs: the number of the block of each, and whether it was retracted."""
    return [(item["log"]["blockNumber"], item["log"]["removed"]) for item in await heard(world)]


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


async def test_what_a_fork_undid_before_the_line_that_goes_on_is_taken_back_however_late(
    world: World,
) -> None:
    """Who began at the head never looks at earlier blocks; of its own ones it says itself what stands."""
    before = await handed_over(world)
    await submit(
        world,
        of_line(world, "two", 9, log("t3", 10)),
        under(before, of_line(world, "one", 5, log("t1", 5), log("t2", 6))),
    )
    assert sorted(await blocks(world)) == [(5, False), (6, False), (10, False)]
    fork = of_line(world, "one", 5, log("t2", 6, branch="b"), gone(5, 10), over=[("one", 1, 5, 10)])
    await submit(world, under(before, fork))
    assert sorted(await blocks(world)) == [(5, False), (5, True), (6, False), (10, False)]


async def test_so_it_is_before_anybody_goes_on(world: World) -> None:
    await submit(world, world.batch(Status.UP))
    before = await handed_over(world)
    await submit(world, under(before, of_line(world, "one", 5, log("t1", 5))))
    assert await blocks(world) == [(5, False)]
    await submit(world, under(before, of_line(world, "one", 5, gone(5, 6), over=[("one", 1, 5, 6)])))
    assert await blocks(world) == [(5, False), (5, True)]


async def test_so_it_is_of_a_location_that_the_monitor_has_left(db: Db) -> None:
    world = await of_chains(await make_world(db, locations=("local", "eu")), EVENTS)
    await submit(world, world.batch(Status.UP, location="eu"))
    await world.run("DELETE FROM states WHERE location = $1", world.locations["local"])
    await submit(world, of_line(world, "one", 5, log("t1", 5)))
    assert await blocks(world) == [(5, False)]
    await submit(world, of_line(world, "one", 5, gone(5, 6), over=[("one", 1, 5, 6)]))
    assert await blocks(world) == [(5, False), (5, True)]


@pytest.mark.parametrize("goes_on", [False, True], ids=["nobody yet", "another"])
async def test_the_word_of_a_fork_counts_that_a_newer_one_overtook_before_the_assignment_changed(
    world: World, goes_on: bool
) -> None:
    """Who takes over goes on from what was read after the fork, and meets none."""
    over = [("one", 1, 6, 8)]
    await submit(world, of_line(world, "one", 5, log("t2", 6)))
    assert await blocks(world) == [(6, False)]
    fork = of_line(world, "one", 5, gone(6, 8), over=over)
    await new_incarnation(world, 99)
    await submit(world, of_line(world, "one", 5, log("t4", 9), over=over))
    await handed_over(world)
    if goes_on:
        await submit(world, of_line(world, "two", 10, log("t5", 10), over=over))
    await submit(world, fork)
    assert (6, True) in await blocks(world)


async def test_of_a_fork_behind_the_checkpoint_those_tell_who_go_on_from_it(world: World) -> None:
    await submit(world, of_line(world, "one", 5, log("t1", 5), log("t2", 6)))
    late = of_line(world, "one", 5, gone(6, 6), over=[("one", 1, 6, 6)])
    await handed_over(world)
    await submit(world, late)
    assert await blocks(world) == [(5, False), (6, False)]
    await submit(world, of_line(world, "two", 7, gone(6, 6)))
    assert await blocks(world) == [(5, False), (6, False), (6, True)]


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


async def test_a_log_that_a_fork_undid_is_not_told_when_the_word_of_the_fork_overtook_it(
    world: World,
) -> None:
    """Fresh results go before what waited for an hour: the retraction found nothing to take back yet."""
    old = of_line(world, "one", 5, log("t1", 5), log("t2", 6), log("t3", 7))
    await new_incarnation(world, 99)
    fork = of_line(world, "one", 5, log("t3", 8, branch="b"), gone(6, 8), over=[("one", 1, 6, 8)])
    await submit(world, fork)
    await submit(world, of_line(world, "one", 5, log("t4", 9), over=[("one", 1, 6, 8)]))
    await submit(world, old)
    assert sorted(await blocks(world)) == [(5, False), (8, False), (9, False)]


async def test_so_it_is_when_the_process_ended_since_and_another_remembers_its_forks(world: World) -> None:
    old = of_line(world, "one", 5, log("t1", 5), log("t2", 6))
    await new_incarnation(world, 99)
    fork = of_line(world, "one", 5, gone(6, 8), over=[("one", 1, 6, 8)])
    await new_incarnation(world, 100)
    after = of_line(world, "two", 9, log("t5", 9), over=[("one", 1, 6, 8)])
    await submit(world, after, fork, old)
    assert sorted(await blocks(world)) == [(5, False), (9, False)]


async def test_what_was_read_once_more_counts_however_late_it_comes(world: World) -> None:
    """The reading after the fork took two checks, and the first of them waits for the second one's sake."""
    over = [("one", 1, 6, 8)]
    old = of_line(world, "one", 5, log("t2", 6, branch="b"), over=over)
    await new_incarnation(world, 99)
    await submit(world, of_line(world, "one", 5, log("t3", 8, branch="b"), gone(6, 8), over=over), old)
    assert sorted(await blocks(world)) == [(6, False), (8, False)]


FIRST, SECOND = ("one", 1, 6, 7), ("one", 2, 7, 8)
OLD, FRESH = 3, 2


@pytest.mark.parametrize("places", list(combinations(range(OLD + FRESH), FRESH)), ids=str)
async def test_results_of_a_process_that_overtake_each_other_come_to_the_same_in_any_order(
    world: World, places: tuple[int, ...]
) -> None:
    """Two forks, while an outage's results go out beside fresh ones, which come at these *places*."""
    old = [
        of_line(world, "one", 5, log("t1", 5), log("t2", 6)),
        of_line(world, "one", 5, log("t3", 7)),
        of_line(world, "one", 5, log("t2", 6, branch="b"), over=[FIRST]),
    ]
    await new_incarnation(world, 99)
    fresh = [
        of_line(world, "one", 5, log("t4", 7, branch="b"), gone(6, 7), over=[FIRST]),
        of_line(world, "one", 5, log("t4", 8, branch="c"), gone(7, 8, branch="c"), over=[FIRST, SECOND]),
    ]
    for place in range(OLD + FRESH):
        await submit(world, fresh.pop(0) if place in places else old.pop(0))
        await heard(world)
    rows = await world.fetch("SELECT key, block_hash FROM web3_logs WHERE removed_at IS NULL ORDER BY block")
    assert [(row["key"], row["block_hash"]) for row in rows] == [
        (f"{hash_of('t1')}:0", hash_of("a5")),
        (f"{hash_of('t2')}:0", hash_of("b6")),
        (f"{hash_of('t4')}:0", hash_of("c8")),
    ]
    told = await blocks(world)
    assert sum(removed for _, removed in told) == sum(not removed for _, removed in told) - len(rows)
