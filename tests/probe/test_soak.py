"""A probe at work for long does not grow: neither memory, nor descriptors, nor tasks.

Seconds and checks a second are TOCSIN_TEST_SOAK_S and TOCSIN_TEST_SOAK_RATE.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from shared.wire.v1 import probe_pb2
from tests.bench.collector import Counting, orders
from tests.ports import free_port
from tests.probe.test_metrics import ask, samples

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("TOCSIN_TEST_SOAK_S", "20"))
RATE = int(os.environ.get("TOCSIN_TEST_SOAK_RATE", "400"))


@dataclass(frozen=True, slots=True)
class Size:
    memory_mb: float
    descriptors: float
    tasks: float


@pytest.fixture
def target() -> Iterator[int]:
    command = [sys.executable, "-m", "tests.bench.target"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield int(process.stdout.readline().split()[0])
        process.kill()


@pytest.mark.slow
@pytest.mark.timeout(SECONDS + 120)
async def test_at_work_for_long_it_does_not_grow(tmp_path: Path, target: int) -> None:
    collector = Counting()
    await collector.start(plan_of(target))
    port = free_port()
    collector.deployment.enrolled(tmp_path)
    process = start(tmp_path, collector.port, port)
    try:
        sizes = [await size_at(port) for _ in range(20)]
    finally:
        process.kill()
        process.wait()
        await collector.stop()
    assert collector.results > 0.8 * RATE * SECONDS
    # The first half is for warming up.
    early, late = highest(sizes[8:14]), highest(sizes[14:])
    assert late.memory_mb <= early.memory_mb + 6
    assert late.descriptors <= early.descriptors + 30
    assert late.tasks <= early.tasks + 30


def plan_of(port: int) -> list[probe_pb2.Assignment]:
    """Of ten targets seven are good, two refuse, and one has a status that was not hoped for."""
    good = orjson.dumps({"url": f"http://127.0.0.1:{port}/"})
    tcp = orjson.dumps({"host": "127.0.0.1", "port": port})
    refusing = orjson.dumps({"host": "127.0.0.1", "port": 1})
    failing = orjson.dumps({"url": f"http://127.0.0.1:{port}/", "expectedStatus": 404})
    share = RATE // 10
    kinds = [("http", good)] * 4 + [("tcp", tcp)] * 3 + [("tcp", refusing)] * 2 + [("http", failing)]
    return [
        order
        for number, (type_, config) in enumerate(kinds)
        for order in orders(
            type_, config, range(number * share + 1, (number + 1) * share + 1), interval_ms=1000
        )
    ]


def start(directory: Path, collector: int, metrics: int) -> "subprocess.Popen[bytes]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    command = [
        sys.executable, "-m", "probe", "--data-dir", str(directory), "--log-level", "error",
        "--collector", f"127.0.0.1:{collector}", "--metrics-listen", f"127.0.0.1:{metrics}",
    ]  # fmt: skip
    return subprocess.Popen(command, cwd=ROOT, env=environment)


async def size_at(port: int) -> Size:
    """What it takes at most during a twentieth of the time."""
    sizes: list[Size] = []
    until = time.monotonic() + SECONDS / 20
    while time.monotonic() < until or not sizes:
        await asyncio.sleep(0.2)
        try:
            told = samples(await ask(port, b"GET /metrics HTTP/1.1\r\n\r\n"))
        except ConnectionRefusedError:
            continue
        sizes.append(
            Size(
                told["process_resident_memory_bytes"] / 1e6,
                told["process_open_fds"],
                told["tocsin_probe_tasks"],
            )
        )
    return highest(sizes)


def highest(sizes: list[Size]) -> Size:
    return Size(
        max(size.memory_mb for size in sizes),
        max(size.descriptors for size in sizes),
        max(size.tasks for size in sizes),
    )
