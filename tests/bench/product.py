"""The whole product on one machine: how soon it tells, and how much memory it takes.

``python -m tests.bench.product``
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvloop

from tests.bench.figures import Figure
from tests.e2e.product import Caller, Product, eventually, running
from tests.receiver import Exchange, Receiver, answer, receiving

STEADY = 200
OUTAGES = 100
TOGETHER = 10
MANY = 1_000
WATCHED_S = 75.0


def run() -> Iterator[Figure]:
    """Both with real checks of a real target over loopback."""
    waits = uvloop.run(_alerting())
    yield Figure("failed check to webhook, median", statistics.median(waits) * 1000, "ms")
    yield Figure("failed check to webhook, 99th percentile", _p99(waits) * 1000, "ms", at_most=250)
    megabytes = uvloop.run(_memory())
    yield Figure("memory of all processes, 1,000 monitors", megabytes, "MB", at_most=250)


class Breaking:
    """Answers by path: 503 where the test broke it, and when that answer was given last."""

    def __init__(self) -> None:
        self.broken: set[str] = set()
        self.failed_at: dict[str, list[float]] = {}

    async def __call__(self, exchange: Exchange) -> None:
        path = exchange.request.target
        if path in self.broken:
            await answer(503)(exchange)
            self.failed_at.setdefault(path, []).append(time.monotonic())
        else:
            await answer(200)(exchange)


async def _alerting() -> list[float]:
    """Seconds from the confirming failed check's end to the webhook, while 200 checks a second run."""
    breaking = Breaking()
    waits: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        async with (
            receiving(always=breaking) as target,
            receiving() as hook,
            running(Path(directory), planted=False) as (_, caller),
        ):
            hooked = {"name": "hook", "type": "webhook", "config": {"url": hook.url()}}
            await caller.made("/v1/alert-channels", hooked)
            await _monitors(caller, target, "steady", STEADY, interval=1)
            await _monitors(caller, target, "victim", OUTAGES, interval=2)
            for first in range(0, OUTAGES, TOGETHER):
                names = [f"victim {number}" for number in range(first, first + TOGETHER)]
                waits += await _break(breaking, hook, names)
    return waits


async def _break(breaking: Breaking, hook: Receiver, names: list[str]) -> list[float]:
    paths = {name: "/" + name.replace(" ", "/") for name in names}
    for path in paths.values():
        breaking.broken.add(path)
        await asyncio.sleep(0.05)

    async def all_told() -> Any:
        told = {
            got.json["monitor"]["name"]: got.at
            for got in hook.received
            if got.json["event"] == "monitor.down"
        }
        return told if told.keys() >= paths.keys() else None

    told = await eventually(all_told, timeout_s=30)
    # The third failure in a row confirms; later ones may have been answered since.
    return [told[name] - breaking.failed_at[path][2] for name, path in paths.items()]


async def _memory() -> float:
    """Megabytes of all processes together, memory that they share counted once."""
    with tempfile.TemporaryDirectory() as directory:
        async with receiving() as target, running(Path(directory), planted=False) as (product, caller):
            await _monitors(caller, target, "steady", MANY, interval=60)
            highest = 0.0
            started = time.monotonic()
            while time.monotonic() - started < WATCHED_S:
                highest = max(highest, _pss_mb(product))
                await asyncio.sleep(3)
            return highest


def _pss_mb(product: Product) -> float:
    pids = [pid for name in ("up", "collector", "probe", "postgres") for pid in product.pids(name)]
    return sum(_pss_kb(pid) for pid in pids) / 1024


def _pss_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


async def _monitors(caller: Caller, target: Receiver, name: str, count: int, *, interval: int) -> None:
    for number in range(count):
        config = {"url": target.url(f"/{name}/{number}")}
        body = {
            "name": f"{name} {number}",
            "type": "http",
            "interval": interval,
            "timeout": 1,
            "config": config,
        }
        await caller.made("/v1/monitors", body)


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99) - 1]


if __name__ == "__main__":
    for figure in run():
        print(figure)
