"""A check goes on from the state of its last reported result: what was thrown away is found again."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from probe.link.plan import Order, ProbeAssignment, prepare
from probe.schedule.runner import CheckRun
from probe.schedule.scheduler import Scheduler
from shared.findings import MAX_FINDINGS, Finding, Findings
from shared.results import Outcome, Run, Status

pytestmark = pytest.mark.races

HELD_UP_US = 60_000_000


class Chain:
    """Checks that count on from what is kept; what each run began with, and what was reported of it."""

    def __init__(self) -> None:
        self.began: list[bytes] = []
        self.reported: list[bytes | None] = []
        self.found = 0
        self.took_us = 1000
        self.go = asyncio.Event()
        self.go.set()
        self.scheduler = Scheduler(self.check, self.report, boot_us=lambda: 10**12, wall_us=lambda: 10**15)

    async def check(self, assigned: ProbeAssignment) -> CheckRun:
        state = assigned.kept.state
        self.began.append(state)
        await self.go.wait()
        findings = [Finding(Findings.LOG, f"0x{number}:0", b"{}") for number in range(self.found)]
        return CheckRun(Outcome(Status.UP, state=state + b"+", found=findings), 10**12, self.took_us)

    def report(self, assigned: ProbeAssignment, run: Run, ran: CheckRun, *, urgent: bool) -> None:
        del assigned, run, urgent
        self.reported.append(ran.outcome.state)

    async def run(self, assignment: ProbeAssignment, run: Run = Run.SCHEDULED) -> None:
        """One check of it, to its end."""
        self.scheduler.ask(assignment, run, 10.0)
        await self.settle()

    async def settle(self) -> None:
        for _ in range(8):
            await asyncio.sleep(0)


@pytest.fixture
async def chain() -> AsyncIterator[Chain]:
    made = Chain()
    yield made
    made.go.set()
    await made.scheduler.stop(1)


def assigned(state: bytes = b"block 5", revision: int = 1) -> ProbeAssignment:
    return prepare(
        Order(
            number=7, monitor=7, location=1, revision=revision, type="tcp",
            config=b'{"host": "192.0.2.1", "port": 1}', interval_ms=60_000, timeout_ms=10_000, state=state,
        )
    )  # fmt: skip


async def test_each_check_goes_on_from_the_one_before(chain: Chain) -> None:
    assignment = assigned()
    chain.scheduler.take(assignment)
    await chain.run(assignment)
    await chain.run(assignment, Run.RECHECK)
    assert chain.began == [b"block 5", b"block 5+"]
    assert chain.reported == [b"block 5+", b"block 5++"]


@pytest.mark.parametrize("revision", [1, 2], ids=["the same revision again", "a new revision"])
async def test_a_changed_assignment_goes_on_from_what_this_probe_told_last(
    chain: Chain, revision: int
) -> None:
    chain.scheduler.take(assigned())
    await chain.run(assigned())
    again = assigned(b"block 4", revision)
    chain.scheduler.take(again)
    await chain.run(again)
    assert chain.began == [b"block 5", b"block 5+"]


async def test_a_changed_assignment_that_never_ran_goes_on_from_what_the_collector_has(chain: Chain) -> None:
    chain.scheduler.take(assigned(b""))
    again = assigned(b"block 9", 2)
    chain.scheduler.take(again)
    await chain.run(again)
    assert chain.began == [b"block 9"]


async def test_one_that_left_and_came_back_goes_on_from_what_the_collector_has(chain: Chain) -> None:
    chain.scheduler.take(assigned())
    await chain.run(assigned())
    chain.scheduler.leave(7)
    again = assigned(b"block 8")
    chain.scheduler.take(again)
    await chain.run(again)
    assert chain.began == [b"block 5", b"block 8"]


async def test_a_check_that_its_change_cut_off_has_moved_nothing(chain: Chain) -> None:
    chain.scheduler.take(assigned())
    chain.go.clear()
    await chain.run(assigned())
    again = assigned(b"", 2)
    chain.scheduler.take(again)
    chain.go.set()
    await chain.settle()
    chain.scheduler.leave(7)
    assert chain.reported == []
    assert again.kept.state == b""


async def test_a_plan_that_comes_while_a_check_runs_does_not_set_it_back(chain: Chain) -> None:
    chain.scheduler.take(assigned())
    chain.go.clear()
    await chain.run(assigned())
    again = assigned(b"block 4")
    chain.scheduler.take(again)
    chain.go.set()
    await chain.settle()
    await chain.run(again)
    assert chain.began == [b"block 5", b"block 5+"]


async def test_what_the_probe_was_held_up_in_is_read_again(chain: Chain) -> None:
    assignment = assigned()
    chain.scheduler.take(assignment)
    chain.took_us = HELD_UP_US
    await chain.run(assignment)
    chain.took_us = 1000
    await chain.run(assignment)
    assert chain.began == [b"block 5", b"block 5"]
    assert chain.reported == [None, b"block 5+"]


async def test_what_no_batch_takes_is_read_again(chain: Chain) -> None:
    assignment = assigned()
    chain.scheduler.take(assignment)
    chain.found = MAX_FINDINGS + 1
    await chain.run(assignment)
    chain.found = 1
    await chain.run(assignment)
    assert chain.began == [b"block 5", b"block 5"]


async def test_a_test_of_the_same_monitor_moves_nothing(chain: Chain) -> None:
    chain.scheduler.take(assigned())
    answers: list[CheckRun] = []
    asked = replace(assigned(b""), number=7)
    chain.scheduler.ask(asked, Run.TEST, 10.0, answers.append)
    await chain.settle()
    await chain.run(assigned())
    assert chain.began == [b"", b"block 5"]
    assert chain.reported == [b"block 5+"]
    assert len(answers) == 1
