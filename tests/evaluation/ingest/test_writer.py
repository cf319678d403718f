"""What the writer promises: once, in order, and one bad row stops nobody."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from collector.evaluation.writer import Fenced, OutOfOrder, ResultWriter
from collector.platform import group_commit
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.results import Status
from shared.wire.convert import SPOOL_AGE_S
from tests.clocks import GivenClock
from tests.evaluation.world import make_world, new_incarnation, writing

UP, DOWN, UNKNOWN = Status.UP, Status.DOWN, Status.UNKNOWN


async def test_a_batch_is_stored_whole_and_then_acknowledged(db: Db) -> None:
    world = await make_world(db, monitors=3)
    keys = sorted(world.assignments)
    async with writing(world) as writer:
        assert await writer.submit(world.batch_of(keys, [UP, UP, UP]))
    rows = await world.fetch("SELECT * FROM results ORDER BY monitor")
    assert [(row["monitor"], row["status"], row["code"], row["ms"]) for row in rows] == [
        (monitor, 1, 200, 3) for monitor, _ in keys
    ]
    assert {row["phases"] for row in rows} == {b"\x01\x02\x03"}
    assert {row["error"] for row in rows} == {None}
    states = await world.fetch("SELECT last_status, last_ms, last_at, fails FROM states")
    assert {(state["last_status"], state["last_ms"], state["fails"]) for state in states} == {(1, 3, 0)}
    assert {state["last_at"] for state in states} == {row["ts"] for row in rows}


async def test_a_turn_in_which_nothing_comes_ends_and_loses_nothing(
    db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "REST_S", 0.01)
    world = await make_world(db)
    writer = ResultWriter(world.db, clock=GivenClock(utc_now, utc_now))
    assert await writer.turn()

    waiting = writer.submit(world.batch(UP))
    await writer.turn()

    assert await waiting
    assert await world.value("SELECT count(*) FROM results") == 1


async def test_a_replayed_batch_has_no_second_effect(db: Db) -> None:
    world = await make_world(db)
    first = world.batch(UP)
    async with writing(world) as writer:
        assert await writer.submit(first) is True
        assert await writer.submit(first) is False
        together = [writer.submit(submission) for submission in (first, world.batch(UP), world.batch(DOWN))]
        assert await asyncio.gather(*together) == [False, True, True]
    assert await world.value("SELECT count(*) FROM results") == 3
    assert await world.value("SELECT last_seq FROM probe_cursors") == 3


async def test_a_batch_after_a_hole_is_refused_and_moves_nothing(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        with pytest.raises(OutOfOrder):
            await writer.submit(world.batch(UP, seq=5))
    assert await world.value("SELECT count(*) FROM results") == 0
    assert await world.value("SELECT last_seq FROM probe_cursors") == 0


async def test_a_fenced_session_writes_nothing_and_disturbs_nobody(db: Db) -> None:
    old = await make_world(db)
    newer = old.session + 1
    await old.run("UPDATE probe_cursors SET session = $1", newer)
    fenced = old.batch(UP)
    good = replace(old.batch(UP, seq=1), session=newer)
    async with writing(old) as writer:
        outcomes = await asyncio.gather(writer.submit(fenced), writer.submit(good), return_exceptions=True)
    assert isinstance(outcomes[0], Fenced)
    assert outcomes[1] is True
    assert await old.value("SELECT count(*) FROM results") == 1


async def test_a_gap_is_counted_and_the_cursor_goes_past_it(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        done = [
            writer.submit(submission) for submission in (world.batch(UP), world.gap(4, 900), world.batch(UP))
        ]
        assert await asyncio.gather(*done) == [True, True, True]
    assert await world.value("SELECT last_seq FROM probe_cursors") == 6
    [gap] = await world.fetch("SELECT first_seq, last_seq, results, reason FROM result_gaps")
    assert gap == {"first_seq": 2, "last_seq": 5, "results": 900, "reason": "spool full"}


async def test_a_gap_over_batches_that_were_committed_after_all_is_taken(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await asyncio.gather(*[writer.submit(world.batch(UP)) for _ in range(3)])
        world.seq = 1
        assert await writer.submit(world.gap(4, 30))
    assert await world.value("SELECT last_seq FROM probe_cursors") == 5


@pytest.mark.oldest
async def test_a_gap_over_committed_batches_is_taken_also_behind_one_of_them(db: Db) -> None:
    world = await make_world(db)
    first = world.batch(UP)
    async with writing(world) as writer:
        await asyncio.gather(*map(writer.submit, (first, world.batch(UP), world.batch(UP))))
        world.seq = 1
        together = [writer.submit(submission) for submission in (first, world.gap(4, 30), world.batch(UP))]
        assert await asyncio.gather(*together) == [False, True, True]
    assert await world.value("SELECT last_seq FROM probe_cursors") == 6


async def test_a_hole_is_refused_whatever_is_tried_again_beside_it(db: Db) -> None:
    world = await make_world(db)
    first = world.batch(UP)
    async with writing(world) as writer:
        await writer.submit(first)
        await new_incarnation(world, 8)
        holed = world.batch(UP, seq=5)
        world.incarnation, world.seq = 7, 1
        together = [writer.submit(submission) for submission in (first, world.batch(UP), holed)]
        outcomes = await asyncio.gather(*together, return_exceptions=True)
    assert outcomes[:2] == [False, True]
    assert isinstance(outcomes[2], OutOfOrder)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        pytest.param("location", 40_000, id="a location that no column holds"),
        pytest.param("monitor", 2**31 + 5, id="a monitor that no column holds"),
        pytest.param("code", 70_000, id="a code that no column holds"),
        pytest.param("error", 9, id="an error that is not in the list"),
    ],
)
async def test_one_bad_row_is_set_aside_and_all_others_are_stored(db: Db, column: str, value: int) -> None:
    world = await make_world(db, monitors=4)
    keys = sorted(world.assignments)
    before, after = world.batch_of(keys, [UP] * 4), world.batch_of(keys, [UP] * 4)
    poisoned: dict[str, Any] = {column: [*getattr(after.batch, column)[:3], value]}
    bad = replace(after, batch=replace(after.batch, **poisoned))
    following = world.batch_of(keys, [UP] * 4)
    async with writing(world) as writer:
        assert await asyncio.gather(*map(writer.submit, (before, bad, following))) == [True, True, True]
    assert await world.value("SELECT count(*) FROM results") == 11
    [refused] = await world.fetch("SELECT seq, position, reason FROM refused_results")
    assert (refused["seq"], refused["position"]) == (2, 3)
    assert refused["reason"]
    assert await world.value("SELECT last_seq FROM probe_cursors") == 3


async def test_a_result_that_is_there_already_is_refused_alone(db: Db) -> None:
    world = await make_world(db, monitors=2)
    keys = sorted(world.assignments)
    batch = world.batch_of(keys, [UP, UP])
    async with writing(world) as writer:
        await writer.submit(batch)
        await world.run("DELETE FROM results WHERE monitor = $1", keys[0][0])
        await world.run("UPDATE probe_cursors SET last_seq = 0")
        assert await writer.submit(batch)
    assert await world.value("SELECT count(*) FROM results") == 2
    assert await world.value("SELECT position FROM refused_results") == 1


async def test_a_batch_that_nobody_can_read_is_recorded_and_passed(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        assert await writer.refuse(world.session, world.probe_id, world.incarnation, 1, 1, "ragged columns")
        world.seq = 1
        assert await writer.submit(world.batch(UP))
    [refused] = await world.fetch("SELECT position, reason FROM refused_results")
    assert refused == {"position": -1, "reason": "ragged columns"}


async def test_results_of_an_older_revision_are_history(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE states SET revision = 2")
    async with writing(world) as writer:
        assert await writer.submit(world.batch(DOWN, DOWN, DOWN, DOWN))
    assert await world.value("SELECT count(*) FROM results") == 4
    assert await world.value("SELECT fails FROM states") == 0
    assert await world.value("SELECT count(*) FROM incidents") == 0


async def test_results_under_a_lost_assignment_are_history(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE states SET assignment = assignment + 1000, probe_id = $1", uuid4())
    async with writing(world) as writer:
        assert await writer.submit(world.batch(DOWN, DOWN, DOWN))
    assert await world.value("SELECT count(*) FROM results") == 3
    assert await world.value("SELECT bool_or(failing) FROM states") is False


async def test_a_probe_writes_nothing_for_a_team_that_it_does_not_serve(db: Db) -> None:
    world = await make_world(db)
    other = await world.value(
        "INSERT INTO teams (id, name, plan, created_at) VALUES ($1, 'other', 'pro', now()) RETURNING team_id",
        uuid4(),
    )
    await world.run("UPDATE probes SET team_id = $1", other)
    await world.run("UPDATE states SET probe_id = $1", uuid4())
    async with writing(world) as writer:
        assert await writer.submit(world.batch(DOWN, DOWN, DOWN))
    assert await world.value("SELECT count(*) FROM results") == 0


async def test_results_of_a_deleted_monitor_are_dropped_without_holding_up_the_rest(db: Db) -> None:
    world = await make_world(db, monitors=2)
    keys = sorted(world.assignments)
    await world.run("DELETE FROM states WHERE monitor = $1", keys[0][0])
    await world.run("DELETE FROM monitors WHERE monitor = $1", keys[0][0])
    async with writing(world) as writer:
        assert await writer.submit(world.batch_of(keys, [UP, UP]))
    assert [row["monitor"] for row in await world.fetch("SELECT monitor FROM results")] == [keys[1][0]]


async def test_an_older_incarnation_moves_no_state_after_a_newer_one_has_spoken(db: Db) -> None:
    world = await make_world(db)
    old_batches = [world.batch(DOWN) for _ in range(3)]
    await new_incarnation(world, -9)
    async with writing(world) as writer:
        assert await writer.submit(world.batch(UP))
        assert all([await writer.submit(submission) for submission in old_batches])
    assert await world.value("SELECT count(*) FROM results") == 4
    assert await world.value("SELECT fails FROM states") == 0


async def test_a_lost_database_leaves_the_batch_to_be_sent_again(db: Db) -> None:
    world = await make_world(db)
    batch = world.batch(UP)
    async with writing(world) as writer:
        await writer.submit(batch)
        second = world.batch(UP)
        await world.run("ALTER TABLE results RENAME TO away")
        with pytest.raises(Exception, match="results"):
            await writer.submit(second)
        await world.run("ALTER TABLE away RENAME TO results")
        assert await writer.submit(second) is True
    assert await world.value("SELECT count(*) FROM results") == 2


async def test_a_commit_whose_answer_was_lost_is_recognised_at_the_next_try(db: Db) -> None:
    world = await make_world(db)
    batch = world.batch(DOWN, DOWN, DOWN)
    async with writing(world) as writer:
        await writer.submit(batch)  # committed; its answer never reached the session
    async with writing(world) as restarted:
        assert await restarted.submit(batch) is False
    assert await world.value("SELECT count(*) FROM results") == 3
    assert await world.value("SELECT count(*) FROM incidents") == 1


async def test_times_outside_of_any_spool_are_clamped(db: Db) -> None:
    world = await make_world(db, monitors=2)
    keys = sorted(world.assignments)
    async with writing(world) as writer:
        await writer.submit(world.batch_of(keys[:1], [UP], ago=timedelta(days=400)))
        await writer.submit(world.batch_of(keys[1:], [UP], ago=timedelta(days=-400)))
    old, new = await world.fetch("SELECT now() - ts AS age FROM results ORDER BY ts")
    spool = timedelta(seconds=SPOOL_AGE_S)
    assert spool <= old["age"] < spool + timedelta(minutes=1)
    assert timedelta(minutes=-6) < new["age"] < timedelta(minutes=-4)


async def test_unknown_results_are_kept_and_move_nothing(db: Db) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, UNKNOWN, DOWN))
    assert await world.value("SELECT count(*) FROM results WHERE status = 3") == 1
    assert await world.value("SELECT count(*) FROM incidents") == 1


async def test_a_thousand_batches_from_many_sessions_arrive_in_few_transactions(db: Db) -> None:
    world = await make_world(db, monitors=10)
    keys = sorted(world.assignments)
    async with writing(world) as writer:
        done = await asyncio.gather(*[writer.submit(world.batch_of(keys, [UP] * 10)) for _ in range(300)])
    assert all(done)
    assert await world.value("SELECT count(*) FROM results") == 3000
    assert await world.value("SELECT max(n) FROM results") is not None
    assert utc_now() >= await world.value("SELECT max(ts) FROM results")


async def test_a_team_s_own_probe_adds_history_only_where_it_stands_or_stood(db: Db) -> None:
    world = await make_world(db)
    await world.run("UPDATE probes SET team_id = $1, locations = '{mars}'", world.team_id)
    await world.run("UPDATE states SET probe_id = $1", uuid4())
    async with writing(world) as writer:
        assert await writer.submit(world.batch(DOWN, DOWN, DOWN))
        assert await world.value("SELECT count(*) FROM results") == 0

        await world.run("UPDATE probes SET stood = '{local}'")
        assert await writer.submit(world.batch(DOWN, DOWN, DOWN))
    assert await world.value("SELECT count(*) FROM results") == 3
