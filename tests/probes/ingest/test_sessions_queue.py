"""The small queue of a session: in order, bounded, and nothing of it is lost when somebody gives up."""

import asyncio

import pytest

from collector.probes.sessions.queue import SlimQueue

pytestmark = pytest.mark.races


async def test_what_is_put_is_taken_in_its_order_and_waits_for_room() -> None:
    queue = SlimQueue[int](3)
    putting = asyncio.create_task(put(queue, 100))
    await asyncio.sleep(0)
    assert queue.full()
    assert [await queue.get() for _ in range(100)] == list(range(100))
    await putting
    assert not queue.full()


async def test_several_may_put_and_each_keeps_its_order() -> None:
    queue = SlimQueue[int](2)
    putting = [asyncio.create_task(put(queue, 50, 1000 * number)) for number in range(4)]
    got = [await queue.get() for _ in range(200)]
    await asyncio.gather(*putting)
    for number in range(4):
        assert [value for value in got if value // 1000 == number] == [1000 * number + at for at in range(50)]


async def test_join_ends_when_all_was_dealt_with() -> None:
    queue = SlimQueue[int](3)
    await queue.join()
    queue.put_nowait(1)
    joining = asyncio.create_task(queue.join())
    await queue.get()
    await asyncio.sleep(0)
    assert not joining.done()
    queue.task_done()
    async with asyncio.timeout(5):
        await joining


@pytest.mark.parametrize("who", ["get", "put", "join"])
async def test_one_who_gives_up_takes_nothing_with_him(who: str) -> None:
    queue = SlimQueue[int](1)
    if who != "get":
        queue.put_nowait(1)
    waiting = {"get": queue.get, "put": lambda: queue.put(2), "join": queue.join}[who]
    task = asyncio.ensure_future(waiting())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    if who == "get":
        queue.put_nowait(1)
    async with asyncio.timeout(5):
        assert await queue.get() == 1
        queue.task_done()
        await queue.join()
    assert not queue.full()


async def put(queue: SlimQueue[int], count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        await queue.put(number)
