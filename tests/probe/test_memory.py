"""A probe with 10,000 monitors stays small: what each takes is counted in bytes, not in kilobytes."""

import asyncio
from pathlib import Path

import orjson
import pytest

from shared.wire.v1 import probe_pb2
from tests.bench.collector import Counting, orders
from tests.bench.probe import resident as resident_alone
from tests.ports import free_port
from tests.probe.test_soak import start

MONITORS = 10_000
# With the tests' packages, some of which the log loads: 5 MB. docs/performance.md has the figures.
MOST_MB = 90
MOST_BYTES_EACH = 2_500
# Without the tests' packages: 56.5 MB, and 59.5 when all types of checks were loaded.
MOST_IDLE_MB = 60
IDLE_S = 3.0


def plan_of(monitors: int, port: int) -> list[probe_pb2.Assignment]:
    """Each has a URL of its own, and nobody listens at its port."""
    return [
        order
        for number in range(1, monitors + 1)
        for order in orders(
            "http",
            orjson.dumps({"url": f"http://127.0.0.1:{port}/{number}", "expectedStatus": 200}),
            range(number, number + 1),
            interval_ms=60_000,
        )
    ]


async def resident(directory: Path, monitors: int, at_work: int) -> int:
    """The resident bytes of a probe once it has its plan and has started *at_work* checks."""
    collector = Counting()
    await collector.start(plan_of(monitors, free_port()))
    collector.deployment.enrolled(directory)
    process = start(directory, collector.port, free_port())
    try:
        async with asyncio.timeout(100):
            while collector.vitals is None or not collector.vitals.plan or collector.vitals.started < at_work:
                await asyncio.sleep(0.1)
        return collector.vitals.rss_bytes
    finally:
        process.kill()
        process.wait()
        await collector.stop()


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_ten_thousand_monitors_fit_into_little_memory(tmp_path: Path) -> None:
    few = await resident(tmp_path / "few", 100, at_work=10)
    many = await resident(tmp_path / "many", MONITORS, at_work=MONITORS // 20)
    assert many <= MOST_MB * 1_000_000
    assert many - few <= MONITORS * MOST_BYTES_EACH


@pytest.mark.slow
async def test_a_probe_without_monitors_takes_little_memory() -> None:
    megabytes, _ = await resident_alone([], IDLE_S)
    assert megabytes <= MOST_IDLE_MB
