"""The engine under many checks at once: fair, and nothing left behind."""

import asyncio
import gc
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop

from probe.checks import CHECKS, Check
from probe.net import faults
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp
from shared.results import Status
from tests.probe import targets
from tests.probe.targets import OK, no_more_descriptors, says, target

pytestmark = pytest.mark.races


def http(url: str) -> Check:
    return CHECKS["http"](Http(url=url))


def sockets() -> int:
    """How many sockets and epolls this process has open."""
    count = 0
    for fd in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            count += str(fd.readlink()).startswith(("socket:", "anon_inode:[eventpoll]"))
    return count


async def checks_a_second(net: Net, check: Check, count: int = 300) -> float:
    began = time.monotonic()
    for _ in range(count):
        assert (await run(check, net, 5.0)).outcome.status is Status.UP
    return count / (time.monotonic() - began)


@pytest.mark.parametrize("loops", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_stalled_checks_do_not_slow_the_others(loops: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def main() -> tuple[float, float]:
        net = Net()
        with target(says(OK)) as fast, target(targets.stall) as slow:
            alone = await checks_a_second(net, http(fast.url))
            stalled = [asyncio.create_task(run(http(slow.url), net, 60.0)) for _ in range(200)]
            await asyncio.sleep(0.2)
            beside = await checks_a_second(net, http(fast.url))
            assert not any(task.done() for task in stalled)
            for task in stalled:
                task.cancel()
            await asyncio.gather(*stalled, return_exceptions=True)
        net.close()
        return alone, beside

    with asyncio.Runner(loop_factory=loops) as runner:
        alone, beside = runner.run(main())

    assert beside > alone / 5


async def test_an_endless_body_does_not_starve_the_others() -> None:
    net = Net()
    endless = targets.repeats(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536)
    with target(endless) as greedy, target(says(OK)) as fast:
        kind = Http(url=greedy.url, max_body_bytes=10**12)
        reading = [asyncio.create_task(run(CHECKS["http"](kind), net, 60.0)) for _ in range(3)]
        await asyncio.sleep(0.1)
        await checks_a_second(net, http(fast.url), 50)
        assert not any(task.done() for task in reading)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
    net.close()


async def test_nothing_is_left_open_whatever_happened() -> None:
    before = sockets()
    net = Net()
    with target(says(OK)) as good, target(targets.stall) as mute, target(targets.reset) as rude:
        urls = [good.url, mute.url, rude.url, "http://127.0.0.1:1/", "http://localhost:1/"]
        await asyncio.gather(*[run(http(url), net, 0.2) for url in urls * 20])
        cancelled = [asyncio.create_task(run(http(mute.url), net, 60.0)) for _ in range(20)]
        await asyncio.sleep(0.1)
        for task in cancelled:
            task.cancel()
        await asyncio.gather(*cancelled, return_exceptions=True)
        assert not net._watched
        with_servers = sockets()
    net.close()
    gc.collect()
    await until(lambda: sockets() <= before)

    assert with_servers > before
    assert sockets() <= before


@pytest.mark.parametrize("answer", [OK, b"HTTP/1.1 200 OK\r\n\r\nuntil close"])
async def test_checks_leave_no_work_for_the_garbage_collector(answer: bytes) -> None:
    net = Net()
    with target(says(answer)) as server:
        await checks_a_second(net, http(server.url), 10)
        gc.collect()
        gc.disable()
        try:
            await checks_a_second(net, http(server.url), 200)
            left = gc.collect()
        finally:
            gc.enable()
    net.close()

    assert left < 200


async def test_closing_the_engine_cancels_who_waits() -> None:
    net = Net(nameservers=["127.0.0.1:1"])
    with target(targets.stall) as server:
        waiting = [asyncio.create_task(run(http(server.url), net, 60.0)) for _ in range(5)]
        await asyncio.sleep(0.1)
        net.close()
        ended = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 5)

    assert all(isinstance(end, asyncio.CancelledError) for end in ended)


async def test_deadlines_end_checks_in_their_order() -> None:
    net = Net()
    ended: list[float] = []

    async def one(timeout_s: float) -> None:
        await run(http(server.url), net, timeout_s)
        ended.append(timeout_s)

    with target(targets.stall) as server:
        await asyncio.gather(*[one(timeout_s) for timeout_s in (0.4, 0.1, 0.3, 0.2)])
    net.close()

    assert ended == [0.1, 0.2, 0.3, 0.4]


async def test_an_idle_engine_takes_no_time() -> None:
    net = Net()
    with target(says(OK)) as server:
        await run(http(server.url), net, 60.0)
        before = time.process_time()
        await asyncio.sleep(0.5)
        spent = time.process_time() - before
    net.close()

    assert spent < 0.05


async def test_a_machine_out_of_descriptors_is_not_the_targets_fault() -> None:
    net, check = Net(), CHECKS["tcp"](Tcp(host="127.0.0.1", port=1))
    with no_more_descriptors():
        ran = await run(check, net, 1.0)
    net.close()

    assert (ran.outcome.status, ran.outcome.error) == (Status.UNKNOWN, "probe: out of file descriptors")


def test_a_port_that_is_reached_by_itself_is_known() -> None:
    with socket.socket() as sock, socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as other:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        sock.connect(("127.0.0.1", port))
        other.connect(server.getsockname())

        assert faults.met_itself(sock, "127.0.0.1", port)
        assert not faults.met_itself(other, "127.0.0.1", server.getsockname()[1])


async def until(holds: Callable[[], bool]) -> None:
    """Wait for *holds*, a while."""
    for _ in range(100):
        if holds():
            return
        await asyncio.sleep(0.02)
