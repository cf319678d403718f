"""The whole probe as a process: schedule, check, spool, send: ``python -m tests.bench.probe``."""

import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import orjson
import psutil
import uvloop

from shared.wire.v1 import probe_pb2
from tests.bench import others
from tests.bench.collector import Counting, orders
from tests.bench.engine import target
from tests.bench.figures import Figure

SETTLE_S = 3.0
WATCHED_S = 10.0
WINDOWS = 5
PINGS = 3
ROOT = Path(__file__).parents[2]
# Packages of the tests that the log's library loads if they are there: an installed probe has none of them.
OF_THE_TESTS = ("rich", "greenlet")


def run() -> Iterator[Figure]:
    """Per CPU-second of the probe's process alone; then how late it starts, how large it is, how soon up."""
    with (
        tempfile.TemporaryDirectory(prefix="tocsin-bench-") as folder,
        target(Path(folder)) as (
            plain,
            secure,
            ca_file,
        ),
    ):
        http = orjson.dumps({"url": f"http://127.0.0.1:{plain}/"})
        https = orjson.dumps({"url": f"https://127.0.0.1:{secure}/"})
        tcp = orjson.dumps({"host": "127.0.0.1", "port": plain})
        ping = orjson.dumps({"host": "127.0.0.1", "count": PINGS})
        pings = orders("icmp", ping, range(1, 8_001), interval_ms=1000)
        yield from _rates(f"icmp, {PINGS} pings each", pings, ca_file, 40_000 // PINGS)
        yield from _rates("tcp", orders("tcp", tcp, range(1, 10_001), interval_ms=1000), ca_file, 14_000)
        yield from _rates("http", orders("http", http, range(1, 6_001), interval_ms=1000), ca_file, 8_000)
        # Each keeps the probe busy for a bit more than half of the time.
        for library, starts_s, at_least in (("OpenSSL", 600, 1_000), ("rustls", 1_200, 2_000)):
            plan = orders("http", https, range(1, starts_s + 1), interval_ms=1000)
            without = () if library == "rustls" else ("rtls",)
            if without or find_spec("rtls"):
                yield from _rates(f"https, {library}", plan, ca_file, at_least, without)
        steady = orders("http", http, range(1, 1_001), interval_ms=1000)
        yield from _lateness("1,000 starts a second", steady, range(1, 1_001))
        yield from _beside_stalled(http)
        yield from _size(http)
        yield from others.run(plain)


def _rates(
    name: str,
    plan: Sequence[probe_pb2.Assignment],
    ca_file: Path,
    at_least: int,
    without: Sequence[str] = (),
) -> Iterator[Figure]:
    """*without*: packages that the probe does not find, as if they were not installed."""

    async def measure() -> float:
        async with running(plan, ca_file, without=without) as (collector, probe):
            probe.cpu_affinity([min(os.sched_getaffinity(0))])  # as the target has the last
            await asyncio.sleep(SETTLE_S)
            rates = [await rate(collector, probe) for _ in range(WINDOWS)]
            if collector.bad:
                raise RuntimeError(collector.fault)
            return statistics.median(rates)

    yield Figure(f"probe, {name}", uvloop.run(measure()), "checks per CPU-second", at_least)


async def rate(collector: Counting, probe: psutil.Process) -> float:
    before, spent = collector.results, _cpu_s(probe)
    await asyncio.sleep(WATCHED_S / WINDOWS)
    return (collector.results - before) / (_cpu_s(probe) - spent)


def _lateness(name: str, plan: Sequence[probe_pb2.Assignment], timed: range) -> Iterator[Figure]:
    async def measure() -> list[int]:
        async with running(plan, timed=timed) as (collector, _):
            await asyncio.sleep(SETTLE_S)
            collector.timing = True
            await asyncio.sleep(2 * WATCHED_S)
            return sorted(collector.late_us)

    late = uvloop.run(measure())
    yield Figure(
        f"probe, late at {name}, 99th percentile", late[len(late) * 99 // 100] / 1000, "ms", at_most=5
    )
    yield Figure(f"probe, late at {name}, worst", late[-1] / 1000, "ms", at_most=20)


def _beside_stalled(config: bytes) -> Iterator[Figure]:
    """Half of 2,000 targets take the connection and say nothing."""
    with _stalling() as port:
        stalled = orjson.dumps({"url": f"http://127.0.0.1:{port}/"})
        quick = range(1, 1_001)
        plan = [
            *orders("http", config, quick, interval_ms=2000),
            *orders("http", stalled, range(1_001, 2_001), interval_ms=2000),
        ]
        yield from _lateness("1,000 beside 1,000 stalled", plan, quick)


def _size(http: bytes) -> Iterator[Figure]:
    """Resident memory without monitors and with 10,000, and how soon a killed probe is back at work."""
    idle, _ = uvloop.run(resident([], SETTLE_S))
    yield Figure("probe, memory without monitors", idle, "MB", at_most=60)
    plan = orders("http", http, range(1, 10_001), interval_ms=60_000)
    megabytes, back_s = uvloop.run(resident(plan, SETTLE_S + WATCHED_S))
    yield Figure("probe, memory with 10,000 monitors", megabytes, "MB", at_most=80)
    yield Figure("probe, killed to first result, 10,000 monitors", back_s, "s", at_most=1)


async def resident(plan: Sequence[probe_pb2.Assignment], watched_s: float) -> tuple[float, float]:
    """Megabytes after that time; with a plan, also seconds from a start after a kill to the first result."""
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as folder:
        collector = Counting()
        await collector.start(plan)
        try:
            async with _probe(collector, Path(folder), without=OF_THE_TESTS) as probe:
                await asyncio.sleep(watched_s)
                megabytes = probe.memory_info().rss / 1e6
                probe.kill()
            began = time.monotonic()
            if plan:
                async with _probe(collector, Path(folder), without=OF_THE_TESTS):
                    collector.came.clear()
                    await collector.came.wait()
            return megabytes, time.monotonic() - began
        finally:
            await collector.stop()


@contextmanager
def _stalling() -> Iterator[int]:
    """The port of a listener whose kernel takes connections that nobody ever reads from."""
    with socket.create_server(("127.0.0.1", 0), backlog=65_535) as listener:
        stop = threading.Event()
        thread = threading.Thread(target=_take, args=(listener, stop))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            thread.join()


def _take(listener: socket.socket, stop: threading.Event) -> None:
    taken: deque[socket.socket] = deque(maxlen=4_000)
    listener.settimeout(0.2)
    while not stop.is_set():
        with suppress(TimeoutError):
            taken.append(listener.accept()[0])


@asynccontextmanager
async def running(
    plan: Sequence[probe_pb2.Assignment],
    ca_file: Path | None = None,
    *,
    timed: range | None = None,
    without: Sequence[str] = (),
) -> AsyncIterator[tuple[Counting, psutil.Process]]:
    collector = Counting()
    collector.timed = timed or range(1, len(plan) + 1)
    await collector.start(plan)
    try:
        with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as folder:
            async with _probe(collector, Path(folder), ca_file, without) as probe:
                yield collector, probe
    finally:
        await collector.stop()


@asynccontextmanager
async def _probe(
    collector: Counting, folder: Path, ca_file: Path | None = None, without: Sequence[str] = ()
) -> AsyncIterator[psutil.Process]:
    collector.deployment.enrolled(folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    environment["GRPC_VERBOSITY"] = "ERROR"
    if ca_file:
        environment["SSL_CERT_FILE"] = str(ca_file)
    for package in without:
        (folder / f"{package}.py").write_text("raise ImportError\n")
        environment["PYTHONPATH"] = str(folder)
    command = [
        sys.executable, "-m", "probe", "--data-dir", str(folder), "--log-level", "error",
        "--collector", f"127.0.0.1:{collector.port}",
    ]  # fmt: skip
    # Not by uvloop, whose fork gRPC complains of.
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.kill()


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


if __name__ == "__main__":
    for figure in run():
        print(figure, flush=True)
