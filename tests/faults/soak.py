"""The whole product at work for long, ``python -m tests.faults.soak MINUTES RATE``: it stays as it is.

Parts are killed in turn. Exits with 1 and the reasons if a bound is passed.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tests.e2e.product import Caller, Product, running

PARTS: Final = ("collector", "probe", "postgres")
RESTARTS: Final = (("probe",), ("collector",), ("postgres",), ("up", *PARTS))
_ROOT: Final = Path(__file__).parents[2]
_EVERY_S: Final = 10.0
# After a restart caches are cold and a backlog comes in.
_SETTLES_S: Final = 45.0
_MOST_GROWTH: Final = 1.25
_MOST_MORE_DESCRIPTORS: Final = 30
_MOST_STATES_BYTES: Final = 50_000_000
_MOST_BEHIND_S: Final = 15.0


@dataclass(frozen=True, slots=True)
class Sample:
    """*memory_mb* and *descriptors* by part; *behind_s*: the age of the newest result of the slowest tenth.

    *calm*: no part was restarted lately.
    """

    at_s: float
    calm: bool
    memory_mb: dict[str, float]
    descriptors: dict[str, int]
    stored: int
    states_bytes: int
    behind_s: float

    def line(self) -> str:
        memory = " ".join(f"{part} {mb:.0f} MB" for part, mb in self.memory_mb.items())
        open_ = " ".join(map(str, self.descriptors.values()))
        return (
            f"{self.at_s:5.0f} s{'' if self.calm else ' (restarted)'}: {memory}, descriptors {open_}, "
            f"{self.stored} results, states {self.states_bytes / 1e6:.1f} MB, behind {self.behind_s:.1f} s\n"
        )


async def soak(directory: Path, minutes: float, rate: int) -> list[Sample]:
    """Check *rate* monitors each second, restart parts, and take samples."""
    samples: list[Sample] = []
    async with target() as port, running(directory) as (product, caller):
        await _monitors(caller, rate, port)
        began = restarted = time.monotonic()
        between_s = minutes * 60 / (len(RESTARTS) + 1)
        settles_s = min(_SETTLES_S, between_s / 2)
        left = list(RESTARTS)
        while (at_s := time.monotonic() - began) < minutes * 60:
            if left and at_s > between_s * (len(RESTARTS) - len(left) + 1):
                victims = left.pop(0)
                product.kill(*victims)
                if "up" in victims:
                    product.start()
                await product.ready()
                restarted = time.monotonic()
            await asyncio.sleep(_EVERY_S)
            with suppress(OSError):
                calm = time.monotonic() - restarted > settles_s
                samples.append(await _sample(product, time.monotonic() - began, calm=calm))
                sys.stdout.write(samples[-1].line())
                sys.stdout.flush()
    return samples


@asynccontextmanager
async def target() -> AsyncIterator[int]:
    """The port of a server that answers all checks, in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.target"]
    process = await asyncio.create_subprocess_exec(*command, cwd=_ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield int((await process.stdout.readline()).split()[0])
    finally:
        process.kill()
        await process.wait()


async def _monitors(caller: Caller, count: int, port: int) -> None:
    turns = asyncio.Semaphore(8)

    async def make(number: int) -> None:
        config = {"url": f"http://127.0.0.1:{port}/"}
        body = {"name": f"m {number}", "type": "http", "interval": 1, "timeout": 1, "config": config}
        async with turns:
            await caller.made("/v1/monitors", body)

    await asyncio.gather(*map(make, range(count)))


async def _sample(product: Product, at_s: float, *, calm: bool) -> Sample:
    memory: dict[str, float] = {}
    descriptors: dict[str, int] = {}
    for part in PARTS:
        processes = []
        for pid in product.pids(part):
            with suppress(psutil.Error):
                process = psutil.Process(pid)
                processes.append((process.memory_full_info().pss, process.num_fds()))
        memory[part] = sum(size for size, _ in processes) / 1e6
        descriptors[part] = sum(count for _, count in processes)
    connection = await product.connect()
    try:
        row = await connection.fetchrow(
            """
            SELECT (SELECT count(*) FROM results) AS stored, pg_total_relation_size('states') AS states,
                (SELECT extract(epoch FROM clock_timestamp() - percentile_disc(0.1) WITHIN GROUP (
                    ORDER BY last_at))::float8 FROM states) AS behind
            """
        )
    finally:
        await connection.close()
    assert row is not None
    return Sample(at_s, calm, memory, descriptors, row["stored"], row["states"], row["behind"] or 0.0)


def faults(samples: Sequence[Sample]) -> list[str]:
    """The bounds that were passed, from the calm samples: the last third against the first."""
    calm = [sample for sample in samples if sample.calm]
    if len(calm) < 6:
        return [f"only {len(calm)} calm samples: it was too short"]
    first, last = calm[: len(calm) // 3], calm[-(len(calm) // 3) :]
    passed: list[str] = []
    for part in PARTS:
        before, after = (max(sample.memory_mb[part] for sample in third) for third in (first, last))
        # PostgreSQL fills its shared memory until all of it is used.
        if part != "postgres" and after > before * _MOST_GROWTH:
            passed.append(f"{part} grew from {before:.0f} to {after:.0f} MB")
        # Checks under way come and go: what leaks is never given back.
        few, many = (min(sample.descriptors[part] for sample in third) for third in (first, last))
        if many > few + _MOST_MORE_DESCRIPTORS:
            passed.append(f"{part} had {few} descriptors, then {many}")
    if (bytes_ := max(sample.states_bytes for sample in calm)) > _MOST_STATES_BYTES:
        passed.append(f"the table of states has {bytes_ / 1e6:.0f} MB")
    if (behind := max(sample.behind_s for sample in calm)) > _MOST_BEHIND_S:
        passed.append(f"results are {behind:.0f} s behind")
    return passed


def main(argv: Sequence[str]) -> int:
    minutes, rate = float(argv[0]), int(argv[1])
    with tempfile.TemporaryDirectory(prefix="tocsin-soak-") as directory:
        passed = faults(asyncio.run(soak(Path(directory), minutes, rate)))
    sys.stdout.write("\n".join(passed or ["no bound was passed"]) + "\n")
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
