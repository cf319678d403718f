"""Blind is not down: what a probe says while its canaries are silent, and how long a failure waits."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from probe.schedule.canaries import Canary
from probe.schedule.egress import Egress
from probe.schedule.runner import CheckRun
from shared.clock import boot_us
from shared.loop import forever
from shared.results import Outcome, Status

pytestmark = pytest.mark.races

ONE, OTHER = Canary("machine", "192.0.2.1"), Canary("machine", "192.0.2.2")
FAR, NEAR = "198.51.100.7", "127.0.0.1"
UP, DOWN = Outcome(Status.UP, 200, address=FAR), Outcome(Status.DOWN, 0, "connect: refused", address=FAR)
REST = timedelta(seconds=0.05)


class World:
    """The canaries in *alive* answer at once, the others after a moment of silence."""

    def __init__(self, *alive: Canary, canaries: Sequence[Canary] = (ONE, OTHER)) -> None:
        self.alive = set(alive)
        self.canaries = list(canaries)
        self.asked = 0
        self.silence_s = 0.05
        self.ahead_us = 0
        self.egress = Egress(lambda: self.canaries, self._answer, lambda: boot_us() + self.ahead_us)

    async def _answer(self, canary: Canary) -> bool:
        self.asked += 1
        if canary not in self.alive:
            await asyncio.sleep(self.silence_s)
        return canary in self.alive

    async def told(self, outcome: Outcome, *, took_us: int = 0) -> Outcome:
        """What the probe says of a check that has just come to *outcome*."""
        async with asyncio.timeout(5):
            began_us = boot_us() + self.ahead_us - took_us
            return (await self.egress.downgrade_if_blind(CheckRun(outcome, began_us, took_us))).outcome

    async def until(self, *, blind: bool) -> None:
        async with asyncio.timeout(5):
            while self.egress.blind is not blind:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def looking(world: World) -> AsyncIterator[None]:
    task = asyncio.create_task(forever("egress", world.egress.turn, REST, world.egress.bell))
    try:
        async with asyncio.timeout(5):
            while not world.asked and world.canaries:
                await asyncio.sleep(0.01)
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_what_fails_while_a_canary_answers_is_down() -> None:
    world = World(ONE, OTHER)
    async with looking(world):
        assert await world.told(DOWN) is DOWN
        world.alive = {OTHER}
        assert await world.told(DOWN) is DOWN
    assert not world.egress.blind


async def test_the_first_failure_after_a_cut_is_not_told_as_one() -> None:
    world = World(ONE, OTHER)
    async with looking(world):
        assert await world.told(DOWN) is DOWN
        world.alive = set()
        assert (await world.told(DOWN)).status is Status.UNKNOWN
        assert world.egress.blind
        assert (await world.told(UP)).status is Status.UNKNOWN
        assert (await world.told(DOWN)).status is Status.UNKNOWN


@pytest.mark.parametrize("status", [Status.UP, Status.DOWN])
async def test_targets_on_its_own_machine_are_judged_all_the_same(status: Status) -> None:
    world = World(ONE)
    near = Outcome(status, address=NEAR)
    async with looking(world):
        assert await world.told(DOWN) is DOWN
        world.alive = set()
        await world.told(DOWN)
        assert await world.told(near) is near


async def test_it_sees_again_when_one_answers_and_checks_from_before_stay_unknown() -> None:
    world = World(ONE, OTHER)
    async with looking(world):
        await world.told(DOWN)
        world.alive = set()
        await world.told(DOWN)
        began_us = boot_us()
        world.alive = {OTHER}
        await world.until(blind=False)
        assert await world.told(UP) is UP
        assert await world.told(DOWN) is DOWN
        long_ago = await world.told(DOWN, took_us=boot_us() - began_us)
        assert long_ago.status is Status.UNKNOWN
        # What got through meanwhile did get through.
        assert await world.told(UP, took_us=boot_us() - began_us) is UP


async def test_canaries_that_never_answered_make_nobody_blind_and_hold_nothing_up() -> None:
    world = World()
    world.silence_s = 2
    async with looking(world):
        assert await world.told(DOWN) is DOWN
        began = asyncio.get_running_loop().time()
        assert await world.told(DOWN) is DOWN
        assert asyncio.get_running_loop().time() - began < world.silence_s
    assert not world.egress.blind


async def test_without_canaries_it_is_never_blind() -> None:
    world = World(canaries=())
    async with looking(world):
        assert await world.told(DOWN) is DOWN
        assert await world.told(UP) is UP
    assert not world.egress.blind


async def test_one_that_first_answers_later_counts_from_then_on() -> None:
    world = World()
    async with looking(world):
        assert await world.told(DOWN) is DOWN
        world.alive = {ONE}
        world.ahead_us += 60_000_000
        async with asyncio.timeout(5):
            while not world.egress.proven:
                await asyncio.sleep(0.01)
        world.alive = set()
        assert (await world.told(DOWN)).status is Status.UNKNOWN


async def test_many_failures_at_once_share_a_question() -> None:
    world = World(ONE, OTHER)
    async with looking(world):
        await world.told(DOWN)
        before = world.asked
        outcomes = await asyncio.gather(*(world.told(DOWN) for _ in range(500)))
        assert {outcome.status for outcome in outcomes} == {Status.DOWN}
        assert world.asked - before <= 6


async def test_a_network_that_was_set_up_anew_has_other_canaries() -> None:
    world = World(ONE, OTHER)
    async with looking(world):
        await world.told(DOWN)
        world.alive = set()
        await world.told(DOWN)
        third = Canary("resolver", "192.0.2.3", 53)
        world.canaries, world.alive = [third], {third}
        await world.until(blind=False)
        assert await world.told(DOWN) is DOWN
        assert world.egress.proven == 1


async def test_a_cut_that_takes_the_canaries_names_away_too_is_a_cut() -> None:
    world = World(ONE, OTHER)
    async with looking(world):
        await world.told(DOWN)
        world.alive, world.canaries = set(), []
        assert (await world.told(DOWN)).status is Status.UNKNOWN
        world.alive = {ONE}
        await world.until(blind=False)


async def test_a_standstill_of_this_process_is_no_blindness() -> None:
    clock_us = [boot_us()]
    world = World(ONE)

    async def answer(canary: Canary) -> bool:
        clock_us[0] += 10_000_000 if not world.alive else 0
        return canary in world.alive

    egress = Egress(lambda: [ONE], answer, lambda: clock_us[0])
    await egress.turn()
    assert egress.proven == 1
    world.alive = set()
    clock_us[0] += 60_000_000
    await egress.turn()
    assert not egress.blind


async def test_a_canary_that_raises_is_asked_again() -> None:
    faults = [RuntimeError("asked wrongly")]

    async def answer(_: Canary) -> bool:
        if faults:
            raise faults.pop()
        return True

    egress = Egress(lambda: [ONE], answer)
    task = asyncio.create_task(forever("egress", egress.turn, REST, egress.bell))
    try:
        ran = CheckRun(DOWN, boot_us(), 0)
        async with asyncio.timeout(5):
            assert await egress.downgrade_if_blind(ran) is ran
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
