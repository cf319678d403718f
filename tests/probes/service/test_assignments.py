"""Monitors are handed to probes, keep what is known of them, and move only when they must."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.core.assignment import LIVE, RETURN
from collector.probes.jobs.probes import Probes
from collector.probes.service.assignments import hand_over, place, rebalance
from collector.probes.storage import probes
from shared.clock import utc_now
from tests.clocks import GivenClock
from tests.probes.ground import connect, fetch, make_monitors, make_team, sign

pytestmark = pytest.mark.races

NOW = utc_now()
LATER = NOW + LIVE


async def placed(db: Db, monitor: int, locations: Sequence[str], revision: int = 1) -> list[str]:
    async with db.transaction() as tx:
        return await place(tx, monitor, revision, locations, now=NOW)


async def balanced(db: Db, now: datetime = NOW, *, patient: bool = False) -> int:
    async with db.transaction() as tx:
        return (await rebalance(tx, now, patient=patient)).moved


async def states(db: Db, monitor: int) -> dict[str, tuple[UUID | None, int | None, int]]:
    """Probe, assignment and turn by location."""
    rows = await fetch(
        db,
        """
        SELECT name, probe_id, assignment, turn FROM states JOIN locations USING (location)
        WHERE monitor = $1
        """,
        monitor,
    )
    return {row["name"]: (row["probe_id"], row["assignment"], row["turn"]) for row in rows}


async def signalled(db: Db) -> dict[str, set[int]]:
    """The monitors that were assigned to each probe, since the last call."""
    rows = await fetch(db, "WITH gone AS (DELETE FROM signals RETURNING payload) SELECT payload FROM gone")
    told: dict[str, set[int]] = {}
    for row in rows:
        for probe, monitors in row["payload"]["probes"].items():
            told.setdefault(probe, set()).update(monitors)
    return told


@pytest.fixture
async def team(db: Db) -> int:
    return await make_team(db, NOW)


@pytest.fixture
async def monitor(db: Db, team: int) -> int:
    [only] = await make_monitors(db, team, locations=("eu", "us"), now=NOW)
    return only


async def test_each_location_gets_its_probe_and_its_turn(db: Db, monitor: int) -> None:
    eu, us = await connect(db, "eu", now=NOW), await connect(db, "us", now=NOW)

    assert await placed(db, monitor, ["us", "eu"]) == []
    held = await states(db, monitor)
    assert (held["us"][0], held["us"][2]) == (us, 0)
    assert (held["eu"][0], held["eu"][2]) == (eu, 1)
    assert held["us"][1] != held["eu"][1]
    assert await signalled(db) == {str(eu): {monitor}, str(us): {monitor}}


async def test_a_location_without_a_probe_of_its_own_is_named(db: Db, monitor: int) -> None:
    builtin = await connect(db, "local", stands_in=True, now=NOW)

    assert await placed(db, monitor, ["local", "eu"]) == ["eu"]
    assert {probe for probe, _, _ in (await states(db, monitor)).values()} == {builtin}


async def test_without_any_probe_the_states_are_there_and_wait(db: Db, monitor: int) -> None:
    assert await placed(db, monitor, ["eu"]) == ["eu"]
    assert await states(db, monitor) == {"eu": (None, None, 0)}

    eu = await connect(db, "eu", now=NOW)
    assert await balanced(db) == 1
    assert (await states(db, monitor))["eu"][0] == eu


async def test_another_teams_probe_is_given_nothing(db: Db, monitor: int) -> None:
    stranger = await connect(db, "eu", now=NOW)
    other = await make_team(db, NOW)
    await fetch(db, "UPDATE probes SET team_id = $1 WHERE probe_id = $2", other, stranger)

    assert await placed(db, monitor, ["eu"]) == ["eu"]
    assert await balanced(db) == 0
    assert (await states(db, monitor))["eu"][0] is None


async def test_a_new_revision_keeps_the_assignment_and_the_failure_and_drops_the_streaks(
    db: Db, monitor: int
) -> None:
    await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    before = await states(db, monitor)
    await fetch(
        db, "UPDATE states SET failing = true, fails = 4, goods = 1, failed_since = $1, ordinal = 9", NOW
    )
    await placed(db, monitor, ["eu"], revision=2)

    assert await states(db, monitor) == before
    [row] = await fetch(db, "SELECT revision, failing, fails, goods, failed_since, ordinal FROM states")
    assert tuple(row.values()) == (2, True, 0, 0, NOW, 9)


async def test_a_streak_that_was_not_yet_a_failure_is_forgotten_with_its_start(db: Db, monitor: int) -> None:
    await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    await fetch(db, "UPDATE states SET fails = 2, failed_since = $1", NOW)
    await placed(db, monitor, ["eu"], revision=2)

    assert await fetch(db, "SELECT fails, failed_since FROM states") == [{"fails": 0, "failed_since": None}]


async def test_pausing_takes_the_monitor_from_its_probe_and_resuming_hands_it_over_anew(
    db: Db, monitor: int
) -> None:
    eu = await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    [(_, first, _)] = (await states(db, monitor)).values()
    await fetch(db, "UPDATE states SET failing = true, fails = 3")
    await fetch(db, "UPDATE monitors SET paused_at = now()")
    await signalled(db)

    assert await placed(db, monitor, [], revision=2) == []
    assert await states(db, monitor) == {"eu": (None, None, 0)}
    assert await signalled(db) == {str(eu): {monitor}}
    assert await balanced(db) == 0

    await fetch(db, "UPDATE monitors SET paused_at = NULL")
    await placed(db, monitor, ["eu"], revision=3)
    [(probe, second, _)] = (await states(db, monitor)).values()
    assert probe == eu
    assert first is not None
    assert second is not None
    assert second > first
    assert await fetch(db, "SELECT failing, fails FROM states") == [{"failing": True, "fails": 0}]


async def test_a_dropped_location_and_a_deleted_monitor_leave_no_states(db: Db, monitor: int) -> None:
    eu, us = await connect(db, "eu", now=NOW), await connect(db, "us", now=NOW)
    await placed(db, monitor, ["eu", "us"])
    await signalled(db)
    await placed(db, monitor, ["us"], revision=2)

    assert set(await states(db, monitor)) == {"us"}
    assert await signalled(db) == {str(eu): {monitor}, str(us): {monitor}}

    await fetch(db, "DELETE FROM monitors WHERE monitor = $1", monitor)
    await placed(db, monitor, [], revision=3)
    assert await states(db, monitor) == {}
    assert await signalled(db) == {str(us): {monitor}}


async def test_a_silent_probe_keeps_its_work_for_the_grace_and_for_as_long_as_nobody_else_can(
    db: Db, monitor: int
) -> None:
    lost = await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    first = await states(db, monitor)

    assert await balanced(db, LATER) == 0
    other = await connect(db, "eu", now=LATER)
    assert await balanced(db, LATER, patient=True) == 0
    assert await states(db, monitor) == first
    assert await balanced(db, LATER) == 1

    probe, number, _ = (await states(db, monitor))["eu"]
    assert probe == other
    assert number != first["eu"][1]
    assert set(await signalled(db)) == {str(lost), str(other)}


async def test_an_ended_session_has_time_to_come_back_but_less(db: Db, monitor: int) -> None:
    gone = await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    await sign(db, gone, NOW, ended=True)
    async with db.connection() as tx:
        [before] = await probes.candidates(tx)
    other = await connect(db, "eu", now=NOW)
    await balanced(db, NOW + RETURN)

    assert before.alive(NOW + RETURN / 2)
    assert RETURN < LIVE
    assert (await states(db, monitor))["eu"][0] == other


async def test_a_moved_assignment_takes_results_of_its_new_probe_whatever_the_old_ones_incarnation(
    db: Db, monitor: int
) -> None:
    await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    await fetch(db, "UPDATE states SET ordinal = 99, fails = 2")
    await connect(db, "eu", now=LATER)
    await balanced(db, LATER)

    assert await fetch(db, "SELECT ordinal, fails FROM states") == [{"ordinal": 0, "fails": 2}]


async def test_several_probes_of_a_location_share_its_monitors_and_keep_their_parts(
    db: Db, team: int
) -> None:
    probes_ = {await connect(db, "eu", now=NOW) for _ in range(2)}
    monitors = await make_monitors(db, team, 100, locations=("eu",), now=NOW)
    for monitor in monitors:
        await placed(db, monitor, ["eu"])
    before = await fetch(db, "SELECT monitor, probe_id, assignment FROM states ORDER BY monitor")

    assert {row["probe_id"] for row in before} == probes_
    third = await connect(db, "eu", now=NOW)
    moved = await balanced(db)
    after = await fetch(db, "SELECT monitor, probe_id, assignment FROM states ORDER BY monitor")
    assert 15 < moved < 55
    assert [b for b, a in zip(before, after, strict=True) if b == a] == [
        b for b, a in zip(before, after, strict=True) if a["probe_id"] != third
    ]


async def test_a_monitor_that_is_placed_while_probes_are_rebalanced_is_missed_by_neither(
    db: Db, monitor: int
) -> None:
    async with db.transaction() as placing:
        await place(placing, monitor, 1, ["eu"], now=NOW)
        eu = await connect(db, "eu", now=NOW)
        rebalancing = asyncio.create_task(balanced(db))
        await asyncio.sleep(0.05)
        assert not rebalancing.done()
    async with asyncio.timeout(10):
        assert await rebalancing == 1

    assert (await states(db, monitor))["eu"][0] == eu


async def test_ten_thousand_monitors_move_in_as_many_statements_as_a_hundred(db: Db, team: int) -> None:
    counts: list[Counter[str]] = []
    for count in (100, 9_900):
        made = await make_monitors(db, team, count, locations=("eu",), now=NOW)
        async with db.transaction() as tx:
            await tx.execute("INSERT INTO locations (name) VALUES ('eu') ON CONFLICT DO NOTHING")
            await tx.execute(
                """
                INSERT INTO states (monitor, location, turn, revision)
                SELECT m, location, 0, 1 FROM unnest($1::int[]) AS m, locations
                """,
                made,
            )
        await connect(db, "eu", now=NOW)
        statements: list[Any] = []

        async with db.transaction() as tx:
            with tx.query_logger(statements.append):
                moved = (await rebalance(tx, NOW)).moved
        assert moved >= count
        counts.append(Counter(logged.query for logged in statements))

    # Only the signals grow with the monitors: one for each thousand of a probe.
    grown = counts[1] - counts[0]
    assert all("INSERT INTO signals" in statement for statement in grown)
    assert grown.total() <= 20


async def test_the_sweeper_rebalances_when_who_is_there_changes_and_only_then(db: Db, monitor: int) -> None:
    clock = [NOW]
    sweeper = Probes(db, Signals(db), GivenClock(lambda: clock[0], lambda: NOW))
    await placed(db, monitor, ["eu"])
    eu = await connect(db, "eu", now=NOW)
    await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] == eu

    # By hand against what the sweeper would do: it does not look again while nobody comes or goes.
    await fetch(db, "UPDATE states SET probe_id = NULL")
    await sign(db, eu, NOW + timedelta(seconds=1))
    await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] is None

    clock[0] = LATER + timedelta(seconds=1)
    await sweeper.turn()
    await sign(db, eu, clock[0])
    await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] == eu


async def test_after_its_start_a_collector_gives_silent_probes_time_to_come_back(
    db: Db, monitor: int
) -> None:
    lost = await connect(db, "eu", now=NOW - timedelta(hours=1))
    await placed(db, monitor, ["eu"])
    await fetch(db, "UPDATE states SET probe_id = $1, assignment = 1", lost)
    other = await connect(db, "eu", now=NOW)
    clock = [NOW]
    sweeper = Probes(db, Signals(db), GivenClock(lambda: clock[0], lambda: NOW))

    await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] == lost
    for clock[0] in (NOW + LIVE / 2, LATER):
        await sign(db, other, clock[0])
        await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] == other


async def test_a_collector_that_could_not_listen_for_a_while_gives_them_time_again(
    db: Db, monitor: int
) -> None:
    lost = await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    clock = [NOW]
    sweeper = Probes(db, Signals(db), GivenClock(lambda: clock[0], lambda: NOW - timedelta(hours=1)))
    await sweeper.turn()

    clock[0] = back = NOW + timedelta(minutes=1)
    other = await connect(db, "eu", now=back)
    await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] == lost
    for clock[0] in (back + LIVE / 2, back + LIVE):
        await sign(db, other, clock[0])
        await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] == other


async def test_a_probe_at_work_is_asked_for_what_another_is_to_have_and_hands_it_over_itself(
    db: Db, monitor: int
) -> None:
    old = await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    new = await connect(db, "eu", now=NOW)
    await fetch(db, "UPDATE probes SET draining_at = now() WHERE probe_id = $1", old)
    before = await states(db, monitor)
    number = before["eu"][1]
    assert number is not None
    await fetch(db, "DELETE FROM signals")
    async with db.transaction() as tx:
        moves = await rebalance(tx, NOW, gently=True)

    assert (moves.moved, moves.asked) == (0, 1)
    assert await fetch(db, "SELECT kind, payload FROM signals") == [
        {"kind": "release", "payload": {"probes": {str(old): [monitor]}}}
    ]
    assert await states(db, monitor) == before

    async with db.transaction() as tx:
        assert await hand_over(tx, new, [number], NOW) == 0
        assert await hand_over(tx, old, [number], NOW) == 1
    after = await states(db, monitor)
    assert after["eu"][0] == new
    assert after["eu"][1] != number
    async with db.transaction() as tx:
        assert await hand_over(tx, old, [number], NOW) == 0


async def test_what_comes_back_to_its_own_probe_gets_another_number_so_that_it_is_taken_up_again(
    db: Db, monitor: int
) -> None:
    only = await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    [(_, number, _)] = (await states(db, monitor)).values()
    assert number is not None
    async with db.transaction() as tx:
        await hand_over(tx, only, [number], NOW)

    [(probe, again, _)] = (await states(db, monitor)).values()
    assert probe == only
    assert again != number


async def test_a_probe_that_does_not_let_go_in_time_loses_it_anyway(db: Db, monitor: int) -> None:
    old = await connect(db, "eu", now=NOW)
    await placed(db, monitor, ["eu"])
    new = await connect(db, "eu", now=NOW)
    await fetch(db, "UPDATE probes SET draining_at = now() WHERE probe_id = $1", old)
    clock = [NOW]
    sweeper = Probes(db, Signals(db), GivenClock(lambda: clock[0], lambda: NOW - timedelta(hours=1)))
    await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] == old

    for seconds in range(2, 12, 2):
        clock[0] = NOW + timedelta(seconds=seconds)
        for probe in (old, new):
            await sign(db, probe, clock[0])
        await sweeper.turn()
    assert (await states(db, monitor))["eu"][0] == new


async def test_served_names_the_locations_of_live_probes_that_this_team_may_use(db: Db, team: int) -> None:
    await connect(db, "us", "eu", now=NOW)
    foreign = await connect(db, "asia", now=NOW)
    await fetch(db, "UPDATE probes SET team_id = $1 WHERE probe_id = $2", await make_team(db, NOW), foreign)
    await connect(db, "moon", now=NOW - LIVE)
    async with db.connection() as tx:
        assert await probes.served(tx, team, NOW) == ["eu", "us"]
