"""Checks start at their place, never twice at once, never in a burst; failures are confirmed soon."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise

import pytest

from probe.link.plan import Order, ProbeAssignment, prepare
from probe.schedule.runner import CheckRun
from probe.schedule.scheduler import Scheduler
from probe.schedule.slots import ASIDE, QUICK, SLOW, Budget, Slots
from shared.results import Outcome, Run, Status
from shared.schedule import phase_us

pytestmark = pytest.mark.races

SECOND = 1_000_000
MINUTE = 60 * SECOND


class World:
    """A scheduler whose clocks the test sets, and targets whose answers the test sets."""

    def __init__(self, max_concurrency: int = 1000) -> None:
        self.boot_us = 10**12
        self.step_us = 10**15
        self.started: list[tuple[int, int]] = []  # monitor, boot clock
        self.reports: list[tuple[int, Run, Status, bool]] = []
        self.status = Status.UP
        self.slow: set[int] = set()
        self.release = asyncio.Event()
        self.scheduler = Scheduler(
            self.check,
            self.report,
            max_concurrency=max_concurrency,
            boot_us=lambda: self.boot_us,
            wall_us=lambda: self.boot_us + self.step_us,
        )

    async def check(self, assigned: ProbeAssignment) -> CheckRun:
        start_us = self.boot_us
        self.started.append((assigned.monitor, start_us))
        if assigned.monitor in self.slow:
            await self.release.wait()
        return CheckRun(Outcome(self.status), start_us, self.boot_us - start_us)

    def report(self, assigned: ProbeAssignment, run: Run, ran: CheckRun, *, urgent: bool) -> None:
        self.reports.append((assigned.monitor, run, ran.outcome.status, urgent))

    async def settle(self) -> None:
        for _ in range(6):
            await asyncio.sleep(0)

    async def pass_(self, us: int, step_us: int = SECOND // 10) -> None:
        """Let time pass in steps, with a tick after each."""
        end_us = self.boot_us + us
        while self.boot_us < end_us:
            self.boot_us = min(self.boot_us + step_us, end_us)
            self.scheduler.tick()
            await self.settle()

    def starts(self, monitor: int) -> list[int]:
        return [at for started, at in self.started if started == monitor]

    def runs(self) -> list[Run]:
        return [run for _, run, _, _ in self.reports]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    yield made
    made.release.set()
    await made.scheduler.stop(1)


def assigned(monitor: int, interval_s: float = 60, revision: int = 1, **changes: object) -> ProbeAssignment:
    made = prepare(
        Order(
            number=monitor, monitor=monitor, location=1, revision=revision, type="tcp",
            config=b'{"host": "192.0.2.1", "port": 1}', interval_ms=int(interval_s * 1000),
            timeout_ms=10_000, failure_threshold=3,
        )
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


async def test_starts_lie_at_the_phase_one_interval_apart(world: World) -> None:
    world.scheduler.take(assigned(7, 10))
    await world.pass_(65 * SECOND)
    starts = world.starts(7)
    assert len(starts) in {6, 7}
    phase = phase_us(7, 10 * SECOND, 0, 1)
    for at in starts:
        assert (at + world.step_us - phase) % (10 * SECOND) <= SECOND // 10
    assert set(world.runs()) == {Run.SCHEDULED}
    assert world.scheduler.skipped == 0


async def test_locations_take_turns(world: World) -> None:
    for turn in range(3):
        world.scheduler.take(assigned(7, 60, number=turn, turn=turn, turns=3))
    await world.pass_(3 * MINUTE)
    starts = world.starts(7)
    assert len(starts) == 9
    gaps = [after - before for before, after in pairwise(starts)]
    assert all(19 * SECOND < gap < 21 * SECOND for gap in gaps)


async def test_load_is_spread_evenly(world: World) -> None:
    for monitor in range(1, 1201):
        world.scheduler.take(assigned(monitor))
    await world.pass_(MINUTE)
    assert len(world.started) == 1200
    each_second = Counter((at - 10**12 - 1) // SECOND for _, at in world.started)
    assert max(each_second.values()) < 45


async def test_what_was_never_measured_is_checked_at_once_then_at_its_phase(world: World) -> None:
    for monitor in range(1, 11):
        world.scheduler.take(assigned(monitor, 60, at_once=True))
    await world.pass_(SECOND // 5)
    assert sorted(monitor for monitor, _ in world.started) == list(range(1, 11))
    await world.pass_(MINUTE + MINUTE // 2)
    assert all(len(world.starts(monitor)) in {2, 3} for monitor in range(1, 11))


async def test_a_run_never_overlaps_the_next_and_skipped_starts_are_counted(world: World) -> None:
    world.slow.add(7)
    world.scheduler.take(assigned(7, 10))
    await world.pass_(45 * SECOND)
    assert len(world.starts(7)) == 1
    assert world.scheduler.running == 1
    assert world.scheduler.skipped in {3, 4}
    world.release.set()
    await world.settle()
    await world.pass_(10 * SECOND)
    assert len(world.starts(7)) == 2


async def test_a_machine_that_slept_wakes_without_a_burst(world: World) -> None:
    for monitor in range(1, 1201):
        world.scheduler.take(assigned(monitor))
    await world.pass_(MINUTE)
    world.started.clear()
    world.boot_us += 3600 * SECOND
    world.scheduler.tick()
    await world.settle()
    assert len(world.started) <= 1200 // 60 * 2
    assert world.scheduler.skipped >= 59 * 1200
    await world.pass_(MINUTE)
    each_second = Counter((at - 10**12 - 1) // SECOND for _, at in world.started)
    assert max(each_second.values()) < 45


async def test_a_check_during_which_the_probe_stood_still_says_nothing_of_its_target(world: World) -> None:
    world.slow.add(7)
    world.scheduler.take(assigned(7, 60, at_once=True))
    await world.pass_(SECOND // 10)
    world.boot_us += 30 * SECOND
    world.status = Status.DOWN
    world.release.set()
    await world.settle()
    assert world.reports == [(7, Run.SCHEDULED, Status.UNKNOWN, False)]


@pytest.mark.parametrize("step_s", [3600, -3600, 25, -25])
async def test_a_step_of_the_wall_clock_makes_no_burst_and_no_hole(world: World, step_s: int) -> None:
    for monitor in range(1, 1201):
        world.scheduler.take(assigned(monitor))
    await world.pass_(MINUTE)
    world.step_us += step_s * SECOND
    await world.pass_(3 * MINUTE)
    each_second = Counter((at - 10**12 - 1) // SECOND for _, at in world.started)
    assert max(each_second.values()) < 60
    for monitor in range(1, 1201):
        starts = world.starts(monitor)
        gaps = [after - before for before, after in pairwise(starts)]
        assert all(29 * SECOND <= gap <= 91 * SECOND for gap in gaps)
    assert world.scheduler.skipped == 0


async def test_a_failure_is_rechecked_until_it_is_confirmed_and_once_more(world: World) -> None:
    world.status = Status.DOWN
    world.scheduler.take(assigned(7, 60))
    await world.pass_(75 * SECOND)
    first, *rechecks = [at for at, run in zip(world.starts(7), world.runs(), strict=True)][:4]
    assert world.runs()[:4] == [Run.SCHEDULED, Run.RECHECK, Run.RECHECK, Run.RECHECK]
    assert [round((at - first) / SECOND) for at in rechecks] == [1, 3, 7]
    assert set(world.runs()[4:]) <= {Run.SCHEDULED}
    assert [urgent for *_, urgent in world.reports][:3] == [True, True, True]


async def test_a_failure_that_was_not_one_is_rechecked_once(world: World) -> None:
    world.status = Status.DOWN
    world.scheduler.take(assigned(7, 60, at_once=True))
    await world.pass_(SECOND // 2)
    world.status = Status.UP
    await world.pass_(20 * SECOND)
    assert world.runs()[:2] == [Run.SCHEDULED, Run.RECHECK]
    assert Run.RECHECK not in world.runs()[2:]
    assert world.reports[1][3]


async def test_the_collectors_count_is_where_the_streak_begins(world: World) -> None:
    world.status = Status.DOWN
    world.scheduler.take(assigned(7, 60, fails=1, at_once=True))
    world.scheduler.take(assigned(8, 60, fails=5, failing=True, at_once=True))
    await world.pass_(20 * SECOND)
    assert [run for monitor, run, _, _ in world.reports if monitor == 7][:2] == [Run.SCHEDULED, Run.RECHECK]
    assert Run.RECHECK not in [run for monitor, run, _, _ in world.reports if monitor == 8]


async def test_a_recovery_is_confirmed_like_a_failure(world: World) -> None:
    world.scheduler.take(assigned(7, 60, failing=True, fails=3, recovery_threshold=3, at_once=True))
    await world.pass_(SECOND * 4)
    assert world.runs()[:3] == [Run.SCHEDULED, Run.RECHECK, Run.RECHECK]
    await world.pass_(SECOND * 10)
    assert world.runs().count(Run.RECHECK) == 2


async def test_unknown_changes_nothing(world: World) -> None:
    world.status = Status.UNKNOWN
    world.scheduler.take(assigned(7, 60, at_once=True))
    await world.pass_(SECOND * 10)
    assert Run.RECHECK not in world.runs()
    assert not any(urgent for *_, urgent in world.reports)


async def test_steady_results_are_not_urgent(world: World) -> None:
    world.scheduler.take(assigned(7, 10))
    await world.pass_(SECOND * 40)
    assert not any(urgent for *_, urgent in world.reports)


async def test_rechecks_of_an_outage_of_everything_keep_to_their_budget() -> None:
    world = World(max_concurrency=100)
    world.status = Status.DOWN
    for monitor in range(1, 2001):
        world.scheduler.take(assigned(monitor))
    await world.pass_(MINUTE)
    rechecks = world.runs().count(Run.RECHECK)
    assert 200 < rechecks <= 20 * 60 + 200
    assert world.runs().count(Run.SCHEDULED) == 2000
    await world.scheduler.stop(1)


async def test_no_more_run_at_once_than_may_and_the_others_wait() -> None:
    world = World(max_concurrency=10)
    world.slow.update(range(1, 61))
    for monitor in range(1, 61):
        world.scheduler.take(assigned(monitor, at_once=True))
    await world.pass_(SECOND // 5)
    assert world.scheduler.running == len(world.started) == 10
    # What stalls is set aside, and others start in its place; but that too has an end.
    await world.pass_(SECOND)
    await asyncio.sleep(0.1)
    assert world.scheduler.running == len(world.started) == 18
    assert world.scheduler.waiting == 42
    world.release.set()
    await world.settle()
    assert len(world.started) >= 30
    await world.pass_(SECOND)
    assert len({monitor for monitor, _ in world.started}) == 60
    await world.scheduler.stop(1)


async def test_targets_that_begin_to_stall_together_hold_up_none_of_the_others() -> None:
    world = World(max_concurrency=50)
    quick = range(101, 111)
    for monitor in quick:
        world.scheduler.take(assigned(monitor, 1))
    await world.pass_(5 * SECOND, SECOND // 100)
    world.slow.update(range(1, 71))
    for monitor in range(1, 71):
        world.scheduler.take(assigned(monitor, 2))
    before_us = world.boot_us
    await world.pass_(10 * SECOND, SECOND // 100)
    for monitor in quick:
        starts = [at for at in world.starts(monitor) if at >= before_us]
        assert len(starts) == 10
        assert all(SECOND - 20_000 <= after - before <= SECOND + 20_000 for before, after in pairwise(starts))
    world.release.set()
    await world.scheduler.stop(1)


async def test_one_that_waits_starts_when_others_prove_to_stall_though_nothing_else_happens() -> None:
    world = World(max_concurrency=5)
    world.slow.update(range(1, 6))
    for monitor in range(1, 7):
        world.scheduler.take(assigned(monitor, 3600, at_once=True))
    await world.pass_(SECOND // 10)
    assert world.scheduler.waiting == 1
    world.boot_us += SECOND
    await asyncio.sleep(0.1)
    assert len(world.starts(6)) == 1
    world.release.set()
    await world.scheduler.stop(1)


async def test_a_check_that_is_taken_away_before_it_began_gives_its_room_back() -> None:
    world = World(max_concurrency=1)
    for monitor in (1, 2, 3):
        world.scheduler.take(assigned(monitor, 3600, at_once=True))
        world.boot_us += SECOND
        world.scheduler.tick()
        world.scheduler.leave(monitor)
    world.scheduler.take(assigned(4, 3600, at_once=True))
    await world.pass_(SECOND)
    assert len(world.starts(4)) == 1
    assert world.scheduler.running == 0
    await world.scheduler.stop(1)


async def test_what_was_due_is_counted_by_type() -> None:
    world = World()
    world.slow.add(1)
    world.scheduler.take(assigned(1, 1))
    world.scheduler.take(assigned(2, 1))
    await world.pass_(10 * SECOND)
    tally = world.scheduler.tallies["tcp"]
    assert (tally.started, tally.skipped, tally.running) == (11, 9, 1)
    assert tally.due == tally.started + tally.skipped
    assert tally.outcomes == {Status.UP: 10, Status.DOWN: 0, Status.UNKNOWN: 0}
    assert sum(world.scheduler.late.counts) == tally.started
    world.release.set()
    await world.scheduler.stop(1)


async def test_targets_that_stall_leave_room_for_the_others() -> None:
    world = World(max_concurrency=50)
    world.slow.update(range(1, 50))
    for monitor in range(1, 50):
        world.scheduler.take(assigned(monitor, 20))
    # They show that they are slow, and from then on are held to their share.
    await world.pass_(20 * SECOND)
    world.release.set()
    await world.settle()
    world.release.clear()
    for monitor in range(51, 61):
        world.scheduler.take(assigned(monitor, 5))
    await world.pass_(40 * SECOND)
    assert all(len(world.starts(monitor)) >= 7 for monitor in range(51, 61))
    assert world.scheduler.running <= 45
    world.release.set()
    await world.scheduler.stop(1)


async def test_a_changed_assignment_is_checked_anew_and_its_running_check_comes_to_nothing(
    world: World,
) -> None:
    world.slow.add(7)
    world.scheduler.take(assigned(7, at_once=True))
    await world.pass_(SECOND)
    world.slow.clear()
    world.scheduler.take(assigned(7, revision=2, at_once=True))
    await world.pass_(SECOND)
    assert len(world.starts(7)) == 2
    assert len(world.reports) == 1


async def test_a_removed_assignment_is_checked_no_more(world: World) -> None:
    world.slow.add(7)
    world.scheduler.take(assigned(7, 10, at_once=True))
    await world.pass_(SECOND)
    world.scheduler.leave(7)
    await world.pass_(MINUTE)
    assert len(world.starts(7)) == 1
    assert world.reports == []
    assert world.scheduler.running == 0


async def test_the_same_assignment_again_changes_neither_place_nor_streak(world: World) -> None:
    world.status = Status.DOWN
    world.scheduler.take(assigned(7, 60, at_once=True))
    await world.pass_(SECOND * 4)
    before = len(world.started)
    world.scheduler.take(assigned(7, 60, at_once=True))
    await world.pass_(SECOND // 2)
    assert len(world.started) == before
    await world.pass_(2 * MINUTE)
    assert world.runs().count(Run.RECHECK) == 3


async def test_a_test_is_answered_and_reported_to_nobody(world: World) -> None:
    answers: list[CheckRun] = []
    world.scheduler.ask(assigned(0), Run.TEST, 5, answers.append)
    await world.settle()
    assert len(answers) == 1
    assert world.reports == []


async def test_a_second_opinion_is_a_result_and_urgent(world: World) -> None:
    world.scheduler.take(assigned(7, 3600))
    world.scheduler.ask(assigned(7, 3600), Run.SECOND_OPINION, 5)
    await world.settle()
    assert world.reports == [(7, Run.SECOND_OPINION, Status.UP, True)]


async def test_a_second_opinion_that_fails_is_rechecked(world: World) -> None:
    world.status = Status.DOWN
    world.scheduler.take(assigned(7, 3600))
    world.scheduler.ask(assigned(7, 3600), Run.SECOND_OPINION, 5)
    await world.pass_(SECOND * 5)
    assert world.runs() == [Run.SECOND_OPINION, Run.RECHECK, Run.RECHECK]


async def test_a_check_that_runs_is_opinion_enough(world: World) -> None:
    world.slow.add(7)
    world.scheduler.take(assigned(7, at_once=True))
    await world.pass_(SECOND)
    world.scheduler.ask(assigned(7), Run.SECOND_OPINION, 5)
    await world.settle()
    assert len(world.started) == 1


async def test_a_request_that_gets_no_room_in_time_is_dropped() -> None:
    world = World(max_concurrency=1)
    world.slow.update({7, 8})
    answers: list[CheckRun] = []
    for monitor in (7, 8):
        world.scheduler.take(assigned(monitor, 3600, at_once=True))
    await world.pass_(SECOND)
    await asyncio.sleep(0.05)
    assert world.scheduler.running == 2
    world.scheduler.ask(assigned(0), Run.TEST, 5, answers.append)
    world.boot_us += 6 * SECOND
    world.release.set()
    await world.settle()
    assert answers == []
    await world.scheduler.stop(1)


async def test_a_stop_lets_running_checks_end_and_starts_no_more(world: World) -> None:
    world.slow.add(7)
    world.scheduler.take(assigned(7, 10, at_once=True))
    world.scheduler.take(assigned(8, 10))
    await world.pass_(SECOND // 2)
    stopping = asyncio.create_task(world.scheduler.stop(5))
    await world.settle()
    world.release.set()
    await stopping
    assert (7, Run.SCHEDULED, Status.UP, False) in world.reports
    count = len(world.started)
    await world.pass_(MINUTE)
    assert len(world.started) == count


async def test_a_stop_does_not_wait_for_what_hangs(world: World) -> None:
    world.slow.add(7)
    world.scheduler.take(assigned(7, at_once=True))
    await world.pass_(SECOND // 2)
    await world.scheduler.stop(0.01)
    assert world.scheduler.running == 0
    assert world.reports == []


async def test_on_real_clocks_starts_keep_their_time() -> None:
    reports: list[CheckRun] = []
    lateness: list[int] = []

    async def check(_: ProbeAssignment) -> CheckRun:
        return CheckRun(Outcome(Status.UP), 0, 0)

    def report(assigned: ProbeAssignment, run: Run, ran: CheckRun, *, urgent: bool) -> None:
        reports.append(ran)
        lateness.append(scheduler.late.take_most_us())

    scheduler = Scheduler(check, report)
    for monitor in range(1, 11):
        scheduler.take(assigned(monitor, 0.1))
    await asyncio.sleep(0.55)
    await scheduler.stop(1)
    assert 30 <= len(reports) <= 60
    assert sorted(lateness)[len(lateness) // 2] < 50_000


def test_ten_thousand_assignments_stay_small() -> None:
    async def measure() -> None:
        world = World()
        for monitor in range(1, 10_001):
            world.scheduler.take(assigned(monitor))
        for revision in range(2, 6):
            world.scheduler.take(assigned(5, revision=revision))
        assert len(world.scheduler._agenda) < 21_100
        await world.scheduler.stop(0)

    asyncio.run(measure())


def test_slots_keep_a_fifth_for_the_quick() -> None:
    slots = Slots(10)
    assert [slots.take(1, slow=True) for _ in range(9)] == [True] * 8 + [False]
    assert [slots.take(1, slow=False) for _ in range(3)] == [True, True, False]
    slots.give(1, SLOW)
    assert slots.take(1, slow=True)


def test_slots_have_room_aside_for_what_stalls_unexpectedly() -> None:
    slots = Slots(10)
    assert all(slots.take(1, slow=False) for _ in range(10))
    assert [slots.set_aside(1) for _ in range(9)] == [True] * 8 + [False]
    assert [slots.take(1, slow=False) for _ in range(9)] == [True] * 8 + [False]
    for hold in [ASIDE] * 8 + [QUICK] * 10:
        slots.give(1, hold)
    assert [slots.take(1, slow=False) for _ in range(11)] == [True] * 10 + [False]


def test_a_budget_saves_up_for_ten_seconds_at_most() -> None:
    now = [0]
    budget = Budget(2, lambda: now[0])
    assert sum(budget.take() for _ in range(100)) == 20
    now[0] += SECOND
    assert sum(budget.take() for _ in range(100)) == 2
    now[0] += 3600 * SECOND
    assert sum(budget.take() for _ in range(100)) == 20
