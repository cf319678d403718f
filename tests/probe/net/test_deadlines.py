"""Deadlines: in order, never early, and nothing to do when there are none."""

import asyncio
import time
from collections.abc import Callable

import pytest
import uvloop

from probe.net.deadlines import TICK_S, Deadlines

pytestmark = pytest.mark.races


class Item:
    def __init__(self, name: str, fired: list[tuple[str, float]]) -> None:
        self.name = name
        self.due = 0.0
        self._fired = fired

    def expire(self) -> None:
        self._fired.append((self.name, time.monotonic() - self.due))


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loops(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    made: Callable[[], asyncio.AbstractEventLoop] = request.param
    return made


def test_fire_in_the_order_of_their_time_and_never_early(
    loops: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    fired: list[tuple[str, float]] = []

    async def main() -> None:
        deadlines = Deadlines()
        start = time.monotonic()
        for name, after in (("c", 0.12), ("a", 0.03), ("d", 0.1203), ("b", 0.06), ("past", -1.0)):
            deadlines.add(Item(name, fired), start + after)
        await asyncio.sleep(0.3)
        deadlines.close()

    with asyncio.Runner(loop_factory=loops) as runner:
        runner.run(main())

    assert [name for name, _ in fired] == ["past", "a", "b", "c", "d"]
    assert all(late >= 0 for _, late in fired)


def test_the_same_moment_fires_once_for_each(loops: Callable[[], asyncio.AbstractEventLoop]) -> None:
    fired: list[tuple[str, float]] = []

    async def main() -> None:
        deadlines = Deadlines()
        due = time.monotonic() + 0.05
        items = [Item(str(number), fired) for number in range(1000)]
        for item in items:
            deadlines.add(item, due)
        for item in items[::2]:
            deadlines.remove(item)
        await asyncio.sleep(0.15)
        deadlines.close()

    with asyncio.Runner(loop_factory=loops) as runner:
        runner.run(main())

    assert sorted(int(name) for name, _ in fired) == list(range(1, 1000, 2))


def test_cost_nothing_while_nothing_is_due(loops: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def main() -> float:
        deadlines = Deadlines()
        for number in range(100):
            deadlines.add(Item("far", []), time.monotonic() + 100 + number)
        before = time.process_time()
        await asyncio.sleep(0.5)
        spent = time.process_time() - before
        deadlines.close()
        return spent

    with asyncio.Runner(loop_factory=loops) as runner:
        assert runner.run(main()) < 0.05


def test_an_item_may_be_removed_after_it_fired_and_added_again() -> None:
    fired: list[tuple[str, float]] = []

    async def main() -> None:
        deadlines = Deadlines()
        item = Item("one", fired)
        for _ in range(3):
            deadlines.add(item, time.monotonic() + TICK_S)
            await asyncio.sleep(0.05)
            deadlines.remove(item)
        deadlines.close()

    asyncio.run(main())

    assert len(fired) == 3
