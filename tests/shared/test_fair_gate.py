"""A gate with few places: bounded inside, bounded in front of it, and fair between those who ask."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shared.fair_gate import Crowded, FairGate

pytestmark = pytest.mark.races


class Watched:
    """A gate whose visitors stay until the test releases them, in the order in which they entered."""

    def __init__(self, most: int, each: int, waiting: int = 100, waiting_each: int = 100) -> None:
        self.gate = FairGate(most, each, waiting=waiting, waiting_each=waiting_each)
        self.inside: list[str] = []
        self.order: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._goes: dict[str, asyncio.Event] = {}

    async def come(self, *names: str) -> None:
        """Each name begins with its key."""
        for name in names:
            self._goes[name] = asyncio.Event()
            self.tasks.append(asyncio.create_task(self._visit(name), name=name))
        await settled()

    async def go(self, name: str) -> None:
        self._goes[name].set()
        await settled()

    async def _visit(self, name: str) -> None:
        async with self.gate.inside(name[0]):
            self.inside.append(name)
            self.order.append(name)
            try:
                await self._goes[name].wait()
            finally:
                self.inside.remove(name)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@asynccontextmanager
async def watched(
    most: int, each: int, waiting: int = 100, waiting_each: int = 100
) -> AsyncIterator[Watched]:
    one = Watched(most, each, waiting, waiting_each)
    yield one
    for task in one.tasks:
        task.cancel()
    await asyncio.gather(*one.tasks, return_exceptions=True)


async def test_no_more_are_inside_than_may_of_all_and_of_one_key() -> None:
    async with watched(3, 2) as door:
        await door.come("a1", "a2", "a3", "b1", "b2", "c1")
        assert door.inside == ["a1", "a2", "b1"]

        await door.go("b1")
        assert door.inside == ["a1", "a2", "b2"]


async def test_keys_take_turns_however_many_of_one_wait() -> None:
    async with watched(1, 1) as door:
        await door.come("a1", "a2", "a3", "a4", "b1", "b2", "c1")
        for name in ("a1", "a2", "b1", "c1", "a3", "b2", "a4"):
            await door.go(name)
        assert door.order == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]


async def test_who_is_one_too_many_is_refused_and_told_whose_fault_it_is() -> None:
    async with watched(1, 1, waiting=3, waiting_each=2) as door:
        await door.come("a1", "a2", "a3")
        with pytest.raises(Crowded) as own:
            await door.gate.enter("a")
        await door.come("b1")
        with pytest.raises(Crowded) as others:
            await door.gate.enter("c")
        assert (own.value.own, others.value.own) == (True, False)


async def test_who_gives_up_waiting_leaves_no_trace() -> None:
    async with watched(1, 1, waiting=1, waiting_each=1) as door:
        await door.come("a1", "a2")
        door.tasks[1].cancel()
        await door.come("b1")
        await door.go("a1")
        assert door.inside == ["b1"]


async def test_a_place_that_is_handed_to_one_who_just_gave_up_goes_to_the_next() -> None:
    async with watched(1, 1) as door:
        await door.come("a1", "b1", "c1")
        door.tasks[1].cancel()
        await door.go("a1")
        assert door.inside == ["c1"]


async def test_who_is_let_in_and_stops_at_once_gives_the_place_back() -> None:
    gate = FairGate(1, 1, waiting=9, waiting_each=9)
    await gate.enter("a")
    stopped = asyncio.create_task(gate.enter("b"))
    await settled()
    gate.leave("a")
    stopped.cancel()
    async with asyncio.timeout(5):
        await gate.enter("c")


async def test_nobody_in_particular_is_a_key_as_any_other() -> None:
    gate = FairGate(1, 1, waiting=9, waiting_each=9)
    await gate.enter(None)
    waiting = asyncio.create_task(gate.enter(None))
    await settled()
    gate.leave(None)
    async with asyncio.timeout(5):
        await waiting
