"""Pings for each second of CPU, and how true their times are beside a busy loop."""

import asyncio
import os
import socket
import statistics
import time
from collections.abc import Iterable

import uvloop

from probe.checks import CHECKS, Check
from probe.net.engine import Net
from probe.net.errors import ProbeError
from probe.net.icmp.wire import open_socket
from probe.schedule.runner import run as run_check
from shared.kinds.icmp import Icmp
from shared.results import Status
from tests.bench.figures import Figure

_ROUNDS = 3
_CHECKS = 8_000
_AT_ONCE = 32
_COUNT = 3
_TIMEOUT_S = 10.0
_TIMED = 1_000


def run() -> Iterable[Figure]:
    """As the probe runs them; none where neither kind of socket is permitted."""
    try:
        open_socket(socket.AF_INET)[0].close()
    except ProbeError:
        return
    home = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(home)})
    try:
        for host in ("127.0.0.1", "::1"):
            rate = uvloop.run(_rate(CHECKS["icmp"](Icmp(host=host, count=_COUNT))))
            yield Figure(f"engine icmp, {host}", rate, "pings per CPU-second", 40_000)
        worst = uvloop.run(_untrue_ms(CHECKS["icmp"](Icmp(host="127.0.0.1", count=1))))
        yield Figure("icmp, time beside a busy loop, 99th percentile", worst, "ms", at_most=0.1)
    finally:
        os.sched_setaffinity(0, home)


async def _rate(check: Check) -> float:
    net = Net()
    try:
        await _many(check, net, _CHECKS // 10)
        rates = []
        for _ in range(_ROUNDS):
            before = time.process_time()
            await _many(check, net, _CHECKS)
            rates.append(_COUNT * _CHECKS / (time.process_time() - before))
    finally:
        net.close()
    return statistics.median(rates)


async def _many(check: Check, net: Net, count: int) -> None:
    left = count

    async def one_after_another() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            ran = await run_check(check, net, _TIMEOUT_S)
            if ran.outcome.status is not Status.UP:
                raise RuntimeError(ran.outcome.error)

    await asyncio.gather(*[one_after_another() for _ in range(_AT_ONCE)])


async def _untrue_ms(check: Check) -> float:
    """The reported times while the loop stands still for 10 ms after each echo went out.

    On the machine itself an echo takes a few hundredths of a millisecond: what is more is not the target's.
    """
    net, told = Net(), []
    loop = asyncio.get_running_loop()
    try:
        for _ in range(_TIMED):
            task = asyncio.create_task(run_check(check, net, _TIMEOUT_S))
            loop.call_soon(time.sleep, 0.01)
            told.append((await task).outcome.phases.first_byte_us or 0)
    finally:
        net.close()
    return sorted(told)[len(told) * 99 // 100] / 1000


if __name__ == "__main__":
    for figure in run():
        print(figure)
