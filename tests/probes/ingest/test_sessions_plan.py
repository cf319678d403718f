"""The plan of a probe: a snapshot, then differences, and all again when the two drift apart."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest

from collector.platform import signals
from collector.platform.seal import SealScope, split
from collector.platform.storage.db import Db
from collector.probes.service.assignments import rebalance
from collector.probes.sessions import plan as sessions_plan
from shared.clock import utc_now
from shared.results import Run, Status
from shared.wire.v1 import probe_pb2
from tests.probes.peer import Collector, Peer, collecting, connected, hello, identity, sealed

pytestmark = pytest.mark.races


@pytest.fixture
async def collector(db: Db) -> AsyncIterator[Collector]:
    async with collecting(db) as one:
        yield one


async def balance(collector: Collector) -> None:
    async with collector.db.transaction() as tx:
        await rebalance(tx, utc_now())
    collector.signals.ring()


def monitors(peer: Peer) -> set[int]:
    return {assignment.monitor for assignment in peer.plan.values()}


async def test_an_idle_probe_gets_an_empty_snapshot(collector: Collector) -> None:
    async with connected(collector, hello()) as peer:
        await peer.snapshot()

    [plan] = peer.plans
    assert (plan.starts_snapshot, plan.ends_snapshot, plan.hash) == (True, True, 0)


async def test_a_snapshot_comes_in_parts_and_agrees_in_its_hash(db: Db, collector: Collector) -> None:
    said = hello()
    async with connected(collector, said) as peer:
        await peer.snapshot()
    made = await collector.monitors(1001)
    async with db.transaction() as tx:
        await tx.execute("INSERT INTO locations (name) VALUES ('eu')")
        await tx.execute(
            """
            INSERT INTO states (monitor, location, turn, revision, assignment, probe_id)
            SELECT m, location, 0, 1, nextval('assignment_numbers'), $2 FROM unnest($1::int[]) AS m, locations
            """,
            made,
            identity(said),
        )
    async with connected(collector, said) as peer:
        await peer.snapshot()

    assert [len(plan.upsert) for plan in peer.plans] == [500, 500, 1]
    assert [(plan.starts_snapshot, plan.ends_snapshot) for plan in peer.plans] == [
        (True, False),
        (False, False),
        (False, True),
    ]
    assert monitors(peer) == set(made)
    assert peer.plans[-1].hash == peer.hash


async def test_an_assignment_says_all_that_the_probe_needs(collector: Collector) -> None:
    [monitor] = await collector.monitors()
    await collector.fetch(
        "UPDATE monitors SET interval_s = 5, timeout_s = 10, locations = '{us,eu}', failure_threshold = 2"
    )
    await collector.place(monitor, 4, ["us", "eu"])
    await collector.fetch("UPDATE states SET fails = 1, failing = true, checkpoint = '\\x01'")
    async with connected(collector, hello()) as peer:
        await balance(collector)
        await peer.hear_until(lambda: peer.plan)
    [row] = await collector.fetch(
        "SELECT assignment, location, id FROM states JOIN monitors USING (monitor) WHERE probe_id IS NOT NULL"
    )
    [assignment] = peer.plan.values()

    assert assignment == probe_pb2.Assignment(
        number=row["assignment"],
        monitor=monitor,
        location=row["location"],
        revision=4,
        type="http",
        config=b'{"url":"https://example.com/"}',
        interval_ms=5_000,
        timeout_ms=5_000,  # never longer than the interval
        turn=1,
        turns=2,
        failure_threshold=2,
        recovery_threshold=1,
        fails=1,
        failing=True,
        at_once=True,
        state=b"\x01",
        team=collector.team_id,
        monitor_id=row["id"].bytes,
    )


async def test_secrets_go_down_opened_and_one_that_does_not_open_spoils_no_other(
    collector: Collector,
) -> None:
    good, bad = await collector.monitors(2)
    [row] = await collector.fetch("SELECT team_id, id FROM monitors WHERE monitor = $1", good)
    config = {"url": "https://example.com/", "headers": {"x-key": "open sesame"}}
    place = SealScope(row["team_id"], "monitors", row["id"], "secrets")
    rest, hidden = split(collector.keyring, config, frozenset({"headers"}), place)
    # The other one's lie where they were not sealed.
    await collector.fetch("UPDATE monitors SET config = $1, secrets = $2", rest, hidden)
    async with connected(collector, hello()) as peer:
        for monitor in (good, bad):
            await collector.place(monitor)
        await peer.hear_until(lambda: len(peer.plan) == 2)

    configs = {assignment.monitor: orjson.loads(assignment.config) for assignment in peer.plan.values()}
    assert configs == {good: config, bad: {}}


async def test_changes_come_as_differences(collector: Collector) -> None:
    first, second = await collector.monitors(2)
    async with connected(collector, hello()) as peer:
        await peer.snapshot()
        await collector.place(first)
        await peer.hear_until(lambda: monitors(peer) == {first})
        await collector.place(second)
        await peer.hear_until(lambda: monitors(peer) == {first, second})
        [before] = [assignment for assignment in peer.plan.values() if assignment.monitor == first]
        await collector.fetch("UPDATE states SET last_at = now()")

        await collector.place(first, 2)
        await peer.hear_until(lambda: peer.plan[before.number].revision == 2)
        assert peer.plan[before.number].at_once
        assert [assignment.monitor for assignment in peer.plans[-1].upsert] == [first]

        await collector.place(first, 3, [])
        await peer.hear_until(lambda: monitors(peer) == {second})
        assert list(peer.plans[-1].removed) == [before.number]
        assert not any(plan.starts_snapshot for plan in peer.plans[1:])
        assert peer.plans[-1].hash == peer.hash


async def test_what_was_measured_since_its_change_is_not_checked_at_once_after_a_reconnect(
    collector: Collector,
) -> None:
    measured, changed, fresh = await collector.placed(3)
    await collector.fetch("UPDATE states SET last_at = now() WHERE monitor <> $1", fresh)
    await collector.fetch("UPDATE monitors SET updated_at = now() WHERE monitor = $1", changed)
    async with connected(collector, hello()) as peer:
        await balance(collector)
        await peer.hear_until(lambda: len(peer.plan) == 3)

    at_once = {assignment.monitor for assignment in peer.plan.values() if assignment.at_once}
    assert at_once == {changed, fresh}
    assert measured not in at_once


async def test_a_second_probe_of_the_location_gets_its_part_and_the_first_is_told(
    collector: Collector,
) -> None:
    made = set(await collector.placed(40))
    async with connected(collector, hello()) as first:
        await balance(collector)
        await first.hear_until(lambda: monitors(first) == made)
        async with connected(collector, hello()) as second:
            await balance(collector)
            await second.hear_until(lambda: monitors(second))
            await first.hear_until(lambda: not monitors(first) & monitors(second))

            assert monitors(first) | monitors(second) == made


@pytest.mark.oldest
async def test_a_drained_probe_is_asked_and_its_successor_gets_the_plan_when_its_last_result_is_in(
    collector: Collector,
) -> None:
    [monitor] = await collector.placed()
    async with connected(collector, hello()) as first:
        await balance(collector)
        await first.hear_until(lambda: first.plan)
        [assignment] = first.plan.values()
        await collector.fetch("UPDATE probes SET draining_at = now()")
        async with connected(collector, hello()) as second:
            await second.snapshot()
            async with collector.db.transaction() as tx:
                await rebalance(tx, utc_now(), gently=True)
            collector.signals.ring()
            await first.hear_until(lambda: first.asked)
            assert first.asked == {assignment.number}
            assert not second.plan

            await first.say(batch=sealed(1, assignment=assignment))
            await first.say(released=probe_pb2.Released(number=[assignment.number]))
            await second.hear_until(lambda: second.plan)
            await first.hear_until(lambda: not first.plan)
            [row] = await collector.fetch("SELECT last_at, last_status, assignment FROM states")
            [taken] = second.plan.values()

    assert row["last_status"] == Status.UP
    assert taken.number == row["assignment"] != assignment.number
    assert (taken.monitor, taken.at_once) == (monitor, False)


async def test_a_probe_cannot_give_away_what_it_was_not_asked_for(collector: Collector) -> None:
    await collector.placed()
    async with connected(collector, hello()) as first, connected(collector, hello(locations=["us"])) as other:
        await balance(collector)
        await first.hear_until(lambda: first.plan)
        before = await collector.fetch("SELECT * FROM states")
        for peer in (other, first):
            await peer.say(released=probe_pb2.Released(number=[*first.plan, 0, 2**64 - 1]))
            await peer.say(batch=sealed(1))
        await other.hear_until(lambda: other.acked)
        await first.hear_until(lambda: first.acked)

        assert await collector.fetch("SELECT * FROM states") == before


@pytest.mark.oldest
async def test_a_probe_that_lost_part_of_its_plan_gets_all_of_it_again(collector: Collector) -> None:
    [monitor] = await collector.monitors()
    async with connected(collector, hello()) as peer:
        await peer.snapshot()
        await collector.place(monitor)
        await peer.hear_until(lambda: peer.plan)
        number = peer.plans[-1].number
        # An older plan's hash is no drift; the same plan's other hash is.
        await peer.say(vitals=probe_pb2.Vitals(plan=number - 1, plan_hash=5))
        await peer.say(vitals=probe_pb2.Vitals(plan=number, plan_hash=peer.hash))
        await peer.say(vitals=probe_pb2.Vitals(plan=number, plan_hash=5))
        await peer.snapshot(after=number)

    assert peer.plans[-1].number == number + 1
    assert monitors(peer) == {monitor}


async def test_a_change_whose_signal_was_missed_is_found_by_comparing(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions_plan, "_COMPARE_EVERY_S", 0.05)
    [monitor] = await collector.monitors()
    said = hello()
    async with connected(collector, said) as peer:
        await peer.snapshot()
        async with collector.db.transaction() as tx:
            await tx.execute("INSERT INTO locations (name) VALUES ('eu')")
            await tx.execute(
                """
                INSERT INTO states (monitor, location, turn, revision, assignment, probe_id)
                SELECT $1, location, 0, 1, nextval('assignment_numbers'), $2 FROM locations
                """,
                monitor,
                identity(said),
            )
        await peer.hear_until(lambda: peer.plan)

    assert monitors(peer) == {monitor}


async def missed(collector: Collector, monitor: int, beside: int) -> None:
    """Have the probe with the assignment *beside* check another monitor too, and signal that to nobody."""
    await collector.fetch(
        """
        INSERT INTO states (monitor, location, turn, revision, assignment, probe_id)
        SELECT $1, location, 0, 1, nextval('assignment_numbers'), probe_id FROM states WHERE assignment = $2
        """,
        monitor,
        beside,
    )


async def letting_go(collector: Collector, peer: Peer) -> probe_pb2.Assignment:
    """Have the probe of *peer* asked to release its only monitor; no other probe can take it yet."""
    await balance(collector)
    await peer.hear_until(lambda: peer.plan)
    [assignment] = peer.plan.values()
    async with collector.db.transaction() as tx:
        payload = {"probes": {str(await holder(collector)): [assignment.monitor]}}
        await signals.send(tx, "release", payload, timedelta(minutes=1))
    collector.signals.ring()
    await peer.hear_until(lambda: peer.asked)
    return assignment


async def holder(collector: Collector) -> UUID:
    [row] = await collector.fetch("SELECT probe_id FROM states")
    probe_id: UUID = row["probe_id"]
    return probe_id


async def rounds(collector: Collector, peer: Peer, monitors_: Sequence[int]) -> None:
    """Let the session's task go round: each monitor that is placed reaches the probe as a difference."""
    for monitor in monitors_:
        await asyncio.sleep(2 * sessions_plan._COMPARE_EVERY_S)
        await collector.place(monitor)
        await peer.hear_until(lambda monitor=monitor: monitor in monitors(peer))  # type: ignore[misc]


@pytest.mark.parametrize("released", [False, True])
async def test_nothing_is_told_again_while_a_check_changes_hands(
    db: Db, monkeypatch: pytest.MonkeyPatch, *, released: bool
) -> None:
    monkeypatch.setattr(sessions_plan, "_COMPARE_EVERY_S", 0.05)
    async with collecting(db, writes=False) as collector, connected(collector, hello()) as peer:
        await collector.placed()
        assignment = await letting_go(collector, peer)
        before = len(peer.plans)  # until then it compares every 50 ms, before or after a signal
        if released:  # its last result is not committed as long as nobody writes
            await peer.say(batch=sealed(1, assignment=assignment))
            await peer.say(released=probe_pb2.Released(number=[assignment.number]))
        unsignalled, *others = await collector.monitors(4)
        await missed(collector, unsignalled, assignment.number)
        await rounds(collector, peer, others)

        assert not [plan.number for plan in peer.plans[before:] if plan.starts_snapshot]
        assert unsignalled not in monitors(peer)


async def test_what_does_not_change_hands_for_minutes_is_compared_and_asked_for_again(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions_plan, "_COMPARE_EVERY_S", 0.05)
    monkeypatch.setattr(sessions_plan, "_HANDED_OVER_WITHIN_S", 0.1)
    async with connected(collector, hello()) as peer:
        await collector.placed()
        assignment = await letting_go(collector, peer)
        [unsignalled] = await collector.monitors()
        await missed(collector, unsignalled, assignment.number)
        await peer.hear_until(lambda: unsignalled in monitors(peer))

    # More of them follow for as long as nothing changes hands.
    again = next(plan for plan in peer.plans[1:] if plan.starts_snapshot)
    assert assignment.number in {one.number for one in again.upsert}
    assert list(again.release) == [assignment.number]


async def test_a_check_that_changes_is_not_let_go_of_any_more(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions_plan, "_COMPARE_EVERY_S", 0.05)
    async with connected(collector, hello()) as peer:
        await collector.placed()
        assignment = await letting_go(collector, peer)
        await collector.place(assignment.monitor, 2)
        await peer.hear_until(lambda: peer.plan[assignment.number].revision == 2)
        [unsignalled] = await collector.monitors()
        await missed(collector, unsignalled, assignment.number)
        await peer.hear_until(lambda: unsignalled in monitors(peer))

    assert list(peer.plans[-1].release) == []


async def send_run(collector: Collector, payload: dict[str, Any]) -> None:
    async with collector.db.transaction() as tx:
        await signals.send(tx, "run", payload, timedelta(days=365))
    collector.signals.ring()


async def test_a_second_opinion_is_asked_with_the_assignment_that_the_probe_has(collector: Collector) -> None:
    [monitor] = await collector.monitors()
    async with connected(collector, hello()) as peer:
        await peer.snapshot()
        await collector.place(monitor)
        await peer.hear_until(lambda: peer.plan)
        [assignment] = peer.plan.values()
        asked = {"session": peer.welcome.session, "id": 5, "run": Run.SECOND_OPINION, "withinMs": 3000}
        await send_run(collector, {**asked, "monitor": monitor, "location": assignment.location})
        await peer.hear_until(lambda: peer.runs)

    [run] = peer.runs
    assert (run.id, run.run, run.within_ms) == (5, Run.SECOND_OPINION, 3000)
    assert (run.check.number, run.check.revision, run.check.config) == (
        assignment.number,
        1,
        assignment.config,
    )


async def test_a_run_for_what_the_probe_does_not_check_any_more_is_left(collector: Collector) -> None:
    [monitor] = await collector.placed()
    async with connected(collector, hello(locations=["us"])) as peer:
        asked = {"session": peer.welcome.session, "id": 5, "run": Run.SECOND_OPINION, "withinMs": 3000}
        await send_run(collector, {**asked, "monitor": monitor, "location": 1})
        await peer.say(batch=sealed(1))
        await peer.hear_until(lambda: peer.acked)

    assert peer.runs == []
