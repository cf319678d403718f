"""What checks find is kept together with their checkpoints; what cannot be meant stops nothing."""

import asyncio
import gc
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from collector.evaluation.writer import Submission
from collector.platform import metrics
from collector.platform.storage.db import Db
from collector.probes.service import assignments
from collector.probes.storage import plans
from shared.clock import utc_now
from shared.findings import Finding, Findings
from shared.ids import uuid7
from shared.loop import Bell
from shared.results import Status
from tests.evaluation.world import World, make_world, new_incarnation, writing
from tests.waiting import WAITING
from tests.web3.ground import (
    EVENTS,
    GAS,
    finding,
    gone,
    hash_of,
    heard,
    log,
    of_chains,
    raised,
    recovered,
    submit,
    types,
)

pytestmark = pytest.mark.races

HOUR = timedelta(hours=1)


async def gas(db: Db, *, locations: tuple[str, ...] = ("local",)) -> World:
    return await of_chains(await make_world(db, locations=locations), GAS)


async def contract(db: Db, *, locations: tuple[str, ...] = ("local",)) -> World:
    return await of_chains(await make_world(db, locations=locations), EVENTS)


async def logs(world: World) -> dict[str, Any]:
    """By key: is it part of the chain, and in which block?"""
    rows = await world.fetch("SELECT key, block_hash, removed_at FROM web3_logs ORDER BY key")
    return {row["key"]: None if row["removed_at"] else row["block_hash"] for row in rows}


def key(transaction: str) -> str:
    return f"{hash_of(transaction)}:0"


def refused(reason: str) -> float:
    return float(metrics.findings_refused.labels(reason)._value.get())


async def test_a_log_is_kept_with_the_time_and_place_of_the_result_that_found_it(db: Db) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5)))
    assert (
        await world.value(
            "SELECT count(*) FROM web3_logs l JOIN results r ON r.ts = l.found_at AND r.location = l.location"
        )
        == 1
    )


class CountingBell(Bell):
    rings = 0

    def ring(self) -> None:
        self.rings += 1
        super().ring()


async def test_the_teller_is_woken_when_something_was_found_and_only_then(db: Db) -> None:
    world = await gas(db)
    bell = CountingBell()
    async with writing(world, findings=bell) as writer:
        await writer.submit(world.batch(Status.UP))
        assert bell.rings == 0
        await writer.submit(finding(world, raised()))
        assert bell.rings == 1
        await writer.submit(finding(world, raised()))
        assert bell.rings == 1


async def test_a_batch_that_comes_again_finds_nothing_again(db: Db) -> None:
    world = await contract(db)
    batch = finding(world, log("t1", 5), raised("paused"))
    async with writing(world) as writer:
        assert await writer.submit(batch) is True
        assert await writer.submit(batch) is False
    assert len(await heard(world)) == 2


async def test_of_a_probe_that_lost_the_assignment_only_what_happened_once_counts(db: Db) -> None:
    """A log lies in the chain, whoever saw it; thresholds and checkpoints are for who goes on."""
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5)))
    await world.run("UPDATE states SET assignment = nextval('assignment_numbers'), checkpoint = 'before'")
    await submit(world, finding(world, log("t2", 6), raised("paused"), gone(5, 5)))
    assert [item["log"]["blockNumber"] for item in await heard(world)] == [5, 6]
    assert await world.value("SELECT checkpoint FROM states") == b"before"
    assert await world.value("SELECT count(*) FROM web3_alerts") == 0


@pytest.mark.oldest
async def test_who_takes_over_finds_it_again_and_it_is_told_once(db: Db) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5)))
    await heard(world)
    number = await world.value(
        "UPDATE states SET assignment = nextval('assignment_numbers') RETURNING assignment"
    )
    late = finding(world, log("t1", 5), log("t2", 6))
    world.assignments[world.monitors[0], world.locations["local"]] = number
    await submit(world, late, finding(world, log("t1", 5), log("t2", 6), log("t3", 7)))
    assert [item["log"]["blockNumber"] for item in await heard(world)] == [5, 6, 7]


async def test_of_what_a_probe_brings_after_its_newer_word_logs_count_and_no_threshold(db: Db) -> None:
    world = await contract(db)
    old = finding(world, log("t1", 5), raised("paused"))
    await new_incarnation(world, 99)
    young = finding(world, log("t2", 6))
    young = replace(young, batch=replace(young.batch, state={0: b"young"}))
    await submit(world, young, old)
    assert [item["log"]["blockNumber"] for item in await heard(world)] == [5, 6]
    assert await world.value("SELECT checkpoint FROM states") == b"young"
    assert await world.value("SELECT count(*) FROM web3_alerts") == 0


async def test_what_an_older_check_says_of_a_log_is_no_news_after_a_younger_one(db: Db) -> None:
    """A probe's newest results may overtake those that waited for an hour."""
    world = await contract(db)
    old = [finding(world, log("t1", 5), ago=HOUR), finding(world, gone(5, 8, branch="c"), ago=HOUR / 2)]
    await new_incarnation(world, 99)
    await submit(world, finding(world, log("t1", 8, branch="b")), *old)
    assert await logs(world) == {key("t1"): hash_of("b8")}
    assert [item["log"]["blockNumber"] for item in await heard(world)] == [8]


async def test_late_results_and_those_of_an_older_revision_count_as_their_checkpoints_do(db: Db) -> None:
    world = await contract(db)
    late = finding(world, log("t1", 5), ago=HOUR)
    history = replace(finding(world, log("t2", 6)), history=True)
    await submit(world, late, history)
    await world.run("UPDATE states SET revision = 2")
    await submit(world, finding(world, log("t3", 7), raised("paused")))
    assert [item.get("log", {}).get("blockNumber") for item in await heard(world)] == [None, 5, 6, 7]


async def test_findings_without_a_checkpoint_count_too(db: Db) -> None:
    world = await gas(db)
    batch = finding(world, raised())
    await submit(world, replace(batch, batch=replace(batch.batch, state={})))
    assert types(await heard(world)) == ["high_gas"]


async def test_several_results_of_one_location_count_in_their_order(db: Db) -> None:
    world = await gas(db)
    batch = world.batch(Status.UP, Status.UP, Status.UP)
    found = {0: [raised()], 1: [recovered()], 2: [raised(message="again")]}
    await submit(world, replace(batch, batch=replace(batch.batch, found=found)))
    told = await heard(world)
    assert types(told) == ["high_gas"]
    assert told[0]["alert"]["message"] == "again"


async def test_a_new_branch_moves_what_it_holds_and_takes_back_the_rest(db: Db) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5), log("t2", 6), log("t3", 6, index=0), log("t4", 8)))
    await submit(world, finding(world, log("t1", 5, branch="b"), log("t2", 7, branch="b"), gone(5, 7)))
    assert await logs(world) == {
        key("t1"): hash_of("b5"),
        key("t2"): hash_of("b7"),
        key("t3"): None,
        key("t4"): hash_of("a8"),
    }


async def test_of_blocks_that_the_chain_has_no_more_nothing_stands(db: Db) -> None:
    world = await contract(db)
    await submit(world, finding(world, log("t1", 5), log("t2", 6)))
    shorter = Finding(
        Findings.RETRACTED, "5-6", b'{"first": 5, "last": 6, "hashes": {"5": "%s"}}' % hash_of("a5").encode()
    )
    await submit(world, finding(world, shorter))
    assert await logs(world) == {key("t1"): hash_of("a5"), key("t2"): None}


async def test_a_location_that_is_behind_brings_nothing_back_that_another_took_back(db: Db) -> None:
    world = await contract(db, locations=("ap", "eu"))
    await submit(world, finding(world, log("t1", 5), location="ap"))
    await heard(world)
    await submit(world, finding(world, gone(5, 5), location="ap"))
    await submit(world, finding(world, log("t1", 5), location="eu"))
    assert await logs(world) == {key("t1"): None}
    await submit(world, finding(world, log("t1", 5), location="ap"))
    assert await logs(world) == {key("t1"): hash_of("a5")}
    assert len(await heard(world)) == 1


async def test_two_locations_on_two_branches_agree_once_the_chain_does(db: Db) -> None:
    world = await contract(db, locations=("ap", "eu"))
    await submit(world, finding(world, log("t1", 5), location="ap"))
    await submit(world, finding(world, log("t1", 5, branch="b"), location="eu"))
    await submit(world, finding(world, log("t1", 5, branch="b"), gone(5, 5), location="ap"))
    assert await logs(world) == {key("t1"): hash_of("b5")}
    assert len(await heard(world)) == 1


async def test_the_same_log_from_many_in_one_transaction_is_one(db: Db) -> None:
    world = await contract(db, locations=("ap", "eu", "us"))
    batches = [
        finding(world, log("t1", 5), log("t1", 5), log("t1", 5, branch=name), location=name)
        for name in ("ap", "eu", "us")
    ]
    async with writing(world) as writer:
        waits = [writer.submit(submission) for submission in batches]
        for future in waits:
            await future
    assert await logs(world) == {key("t1"): hash_of("us5")}
    assert len(await heard(world)) == 1


async def test_a_fork_of_a_chain_that_very_many_watch_is_taken_back_for_all_of_them(db: Db) -> None:
    world = await of_chains(await make_world(db, monitors=700), EVENTS)
    places = [(monitor, world.locations["local"]) for monitor in world.monitors]
    for found in ((log("t1", 5), log("t2", 6)), (log("t3", 6, branch="b"), gone(5, 6))):
        submission = world.batch_of(places, [Status.UP] * len(places))
        batch = replace(submission.batch, found=dict.fromkeys(range(len(places)), found))
        await submit(world, replace(submission, batch=batch))
    kept = "SELECT count(*) FROM web3_logs WHERE removed_at IS NULL"
    assert await world.value(kept) == 700
    assert await world.value("SELECT count(*) FROM web3_logs") == 2100


async def test_of_one_monitor_what_was_taken_back_and_came_again_goes_by_the_last_word(db: Db) -> None:
    world = await contract(db)
    batch = world.batch(*[Status.UP] * 4)
    found = {
        0: [log("t1", 5)],
        1: [gone(5, 5)],
        2: [log("t1", 5, branch="b"), log("t2", 6)],
        3: [gone(6, 6, branch="c"), log("t3", 6, branch="c")],
    }
    await submit(world, replace(batch, batch=replace(batch.batch, found=found)))
    assert await logs(world) == {key("t1"): hash_of("b5"), key("t2"): None, key("t3"): hash_of("c6")}


HOSTILE = [
    Finding(Findings.RAISED, "high_gas", b"{"),
    Finding(Findings.RAISED, "x" * 100, b"{}"),
    Finding(Findings.LOG, key("t1"), b"null"),
    Finding(Findings.LOG, key("t1"), b'{"blockNumber": 1e300, "blockHash": "0x"}'),
    Finding(Findings.RETRACTED, "1-2", b'{"first": -1}'),
]


async def test_what_cannot_be_meant_is_counted_and_stops_nothing(db: Db) -> None:
    world = await contract(db)
    before = sum(refused(reason) for reason in ("json", "key", "number", "range"))
    nul = log("t2", 6, args={"text": "a\0b", "\0": "\0"}, name="\0")
    await submit(world, finding(world, *HOSTILE, log("t1", 5), nul, raised("paused")))
    assert sum(refused(reason) for reason in ("json", "key", "number", "range")) == before + len(HOSTILE)
    assert len(await heard(world)) == 3
    assert await world.value("SELECT count(*) FROM results") == 1
    assert await world.value("SELECT count(*) FROM refused_results") == 0


async def test_the_numbers_of_a_block_reach_as_far_as_the_database_counts(db: Db) -> None:
    world = await contract(db)
    last = 2**63 - 1
    await submit(world, finding(world, log("t1", last, index=2**31 - 1)))
    assert (await heard(world))[0]["log"]["blockNumber"] == last


async def test_checks_that_are_of_no_chain_find_nothing(db: Db) -> None:
    world = await make_world(db)
    before = refused("monitor")
    await submit(world, finding(world, raised(), log("t1", 5)))
    assert refused("monitor") == before + 2
    assert await heard(world) == []


async def test_no_monitor_has_more_alerts_than_anybody_could_name(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, *(raised(f"alert_{n}") for n in range(70))))
    assert await world.value("SELECT count(*) FROM web3_alerts") == 64


async def wave(world: World, finding: Finding) -> float:
    """Every monitor finds it in one batch; the seconds of CPU that this took."""
    places = [(monitor, world.locations["local"]) for monitor in world.monitors]
    submission = world.batch_of(places, [Status.UP] * len(places))
    batch = replace(submission.batch, found=dict.fromkeys(range(len(places)), (finding,)))
    # A look through all that a long run of tests has left would cost more than the wave.
    gc.collect()
    gc.disable()
    try:
        before = time.thread_time()
        await submit(world, replace(submission, batch=batch))
        return time.thread_time() - before
    finally:
        gc.enable()


async def test_a_wave_over_all_monitors_of_a_chain_costs_no_more_than_its_end(db: Db) -> None:
    world = await of_chains(await make_world(db, monitors=5000), GAS)
    begins = await wave(world, raised())
    assert await world.value("SELECT count(*) FROM web3_alerts WHERE locations <> '{}'") == 5000
    ends = await wave(world, recovered())
    assert await world.value("SELECT count(*) FROM web3_alerts WHERE locations <> '{}'") == 0
    assert begins < 2.5 * ends


@pytest.mark.oldest
async def test_monitors_that_fail_and_others_that_find_are_locked_in_one_order(db: Db) -> None:
    world = await of_chains(await make_world(db, monitors=2), EVENTS)
    finds, fails = world.monitors
    where = world.locations["local"]
    submission = world.batch_of([(fails, where), (finds, where)], [Status.DOWN, Status.UP])
    submission = replace(submission, batch=replace(submission.batch, found={1: (log("t1", 5),)}))
    async with db.transaction() as held:
        await held.execute("SELECT FROM monitors WHERE monitor = $1 FOR NO KEY UPDATE", finds)
        writing_ = asyncio.create_task(submit(world, submission))
        while not await world.value(WAITING):
            await asyncio.sleep(0.01)
        free = "SELECT monitor FROM monitors WHERE monitor = $1 FOR NO KEY UPDATE SKIP LOCKED"
        assert await world.value(free, fails) == fails
    await writing_
    assert await logs(world) == {key("t1"): hash_of("a5")}


async def test_a_result_that_the_database_refuses_takes_its_findings_along_and_no_others(db: Db) -> None:
    world = await contract(db)
    batch = world.batch(Status.UP, Status.UP)
    bad = replace(
        batch.batch,
        code=[200, 70_000],
        found={0: [log("t1", 5)], 1: [log("t2", 6)]},
        state={0: b"a", 1: b"b"},
    )
    await submit(world, replace(batch, batch=bad))
    assert [item["log"]["blockNumber"] for item in await heard(world)] == [5]
    assert await world.value("SELECT checkpoint FROM states") == b"a"


async def test_another_teams_probe_finds_nothing_here(db: Db) -> None:
    world = await contract(db)
    await world.run("UPDATE states SET probe_id = $1, checkpoint = NULL", uuid7())
    await world.run(
        """
        WITH other AS (
            INSERT INTO teams (id, name, plan, created_at) VALUES ($1, 'other', 'pro', now())
            RETURNING team_id
        ) UPDATE probes SET team_id = other.team_id FROM other
        """,
        uuid7(),
    )
    await submit(world, finding(world, log("t1", 5)))
    assert await heard(world) == []


@pytest.mark.parametrize(
    ("config", "kept"), [(GAS, b"kept"), ({"url": "https://example.com/"}, None)], ids=["a chain", "others"]
)
async def test_a_check_of_a_chain_goes_on_where_it_was_after_a_pause_or_another_setting(
    db: Db, config: dict[str, Any], kept: bytes | None
) -> None:
    world = await make_world(db)
    if "subType" in config:
        await of_chains(world, config)
    await world.run("UPDATE states SET checkpoint = 'kept'")
    monitor, where = world.monitors[0], list(world.locations.values())
    async with db.transaction() as tx:
        await plans.release(tx, monitor, 2)
        await plans.put(tx, monitor, 3, where, [world.probe_id])
    assert await world.value("SELECT checkpoint FROM states") == kept


@pytest.mark.parametrize(("config", "kept"), [(GAS, b"kept"), ({"url": "https://example.com/"}, None)])
async def test_another_location_goes_on_where_the_one_before_it_was(
    db: Db, config: dict[str, Any], kept: bytes | None
) -> None:
    world = await make_world(db)
    if "subType" in config:
        await of_chains(world, config)
    await world.run("UPDATE states SET checkpoint = 'kept'")
    async with db.transaction() as tx:
        await assignments.place(tx, world.monitors[0], 2, ["elsewhere"], now=utc_now())
    assert await world.value("SELECT count(*) FROM states") == 1
    assert await world.value("SELECT checkpoint FROM states") == kept


async def test_what_only_a_location_holds_that_is_taken_away_is_over(db: Db) -> None:
    world = await gas(db, locations=("ap", "eu"))
    await submit(world, finding(world, raised(), raised("low_gas"), location="eu"))
    await submit(world, finding(world, raised(), location="ap"))
    await heard(world)
    async with db.transaction() as tx:
        await assignments.place(tx, world.monitors[0], 2, ["ap"], now=utc_now())
    await world.run("UPDATE states SET probe_id = $1", world.probe_id)
    assert types(await heard(world)) == ["high_gas", "low_gas", "low_gas_recovered"]
    assert await world.value("SELECT locations FROM web3_alerts") == [world.locations["ap"]]


async def test_a_pause_keeps_what_is_raised_and_the_probe_that_goes_on_says_when_it_is_over(db: Db) -> None:
    world = await gas(db)
    await submit(world, finding(world, raised()))
    await heard(world)
    monitor, where = world.monitors[0], list(world.locations.values())
    async with db.transaction() as tx:
        await plans.release(tx, monitor, 2)
        await plans.put(tx, monitor, 3, where, [world.probe_id])
    number = await world.value("SELECT assignment FROM states")
    world.assignments[monitor, where[0]] = number
    await submit(world, finding(world, recovered()))
    assert types(await heard(world)) == ["high_gas", "high_gas_recovered"]


def many(world: World) -> Submission:
    """As much as a hostile probe can put into one batch of ordinary size."""
    batch = world.batch(*[Status.UP] * 400)
    found = {
        i: [*(log("t1", 5, branch=f"{i}{j}"[:9]) for j in range(10)), gone(i, i), *HOSTILE]
        for i in range(400)
    }
    return replace(batch, batch=replace(batch.batch, found=found))


async def test_a_batch_full_of_contradictions_is_stored_and_ends(db: Db) -> None:
    world = await contract(db)
    async with writing(world) as writer:
        assert await writer.submit(many(world)) is True
    assert await world.value("SELECT count(*) FROM results") == 400
    assert await world.value("SELECT count(*) FROM web3_logs") == 1
