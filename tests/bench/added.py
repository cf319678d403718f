"""What a probe adds to a check that does nothing: `python -m tests.bench.added`."""

import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvloop

from probe.app import COLLECT_AFTER, checks_of
from probe.blackbox import Board
from probe.link.plan import Order, prepare
from probe.net.engine import Net
from probe.schedule.certificate_ends import CertificateEnds
from probe.schedule.egress import Egress
from probe.schedule.scheduler import Scheduler
from probe.spool.batches import Batcher
from probe.spool.spool import Spool
from shared.results import Outcome, Phases, Status
from tests.bench.figures import Figure

_MONITORS = 5_000
_STEP_US = 4_000
_ROUNDS = 5


class World:
    """A schedule whose clocks stand still until `second` moves them, with the parts of a whole probe."""

    def __init__(self, folder: Path) -> None:
        self.boot_us = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
        self._ahead_us = time.time_ns() // 1000 - self.boot_us
        self.spool = Spool(folder)
        self.batcher = Batcher(self.spool.append)
        self.net = Net()
        in_check = memoryview(bytearray(8)).cast("Q")
        check = checks_of(self.net, Egress(list, _no_answer), Board(0), CertificateEnds(), in_check)
        self.scheduler = Scheduler(
            check,
            self.batcher.add,
            boot_us=lambda: self.boot_us,
            wall_us=lambda: self.boot_us + self._ahead_us,
        )
        for number in range(1, _MONITORS + 1):
            order = Order(
                number=number, monitor=number, location=1, revision=1, type="http", config=b"{}",
                interval_ms=1000, timeout_ms=10_000,
            )  # fmt: skip
            assigned = prepare(order)
            assigned.check = _nothing
            self.scheduler.take(assigned)

    async def second(self) -> None:
        """Run each monitor once."""
        for _ in range(1_000_000 // _STEP_US):
            self.boot_us += _STEP_US
            await asyncio.sleep(_STEP_US / 1_000_000)  # the scheduler's timer counts in real time
            while self.scheduler.running:
                await asyncio.sleep(0)


async def _nothing(_net: Net, _deadline: float) -> Outcome:
    await asyncio.sleep(0)
    return Outcome(Status.UP, 200, "", Phases(None, 60, None, 90, 12), address="127.0.0.1")


async def _no_answer(_canary: Any) -> bool:
    return False


def run() -> Iterator[Figure]:
    """Processor time of schedule, worker, runner, streak, batch and spool for each check."""
    yield Figure("probe, added to a check", uvloop.run(_measure()), "us of CPU", at_most=40)


async def _measure() -> float:
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as folder:
        world = World(Path(folder))
        try:
            await world.second()
            rounds = []
            for _ in range(_ROUNDS):
                began_s, started = time.process_time(), world.scheduler.started
                await world.second()
                rounds.append((time.process_time() - began_s) / (world.scheduler.started - started) * 1e6)
            return statistics.median(rounds)
        finally:
            await world.scheduler.stop(0)
            world.batcher.seal()
            world.net.close()
            world.spool.close()


if __name__ == "__main__":
    for figure in run():
        print(figure)
