"""What 1,000 probes with nothing to do cost a collector: memory, and time for their signs of life.

``python -m tests.bench.idle``
"""

import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import uvloop

from collector.platform.embedded.server import Embedded
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from collector.probes.service import authority
from probe.link.credentials import Credentials
from shared.clock import boot_us, utc_now
from shared.ids import uuid7
from shared.loop import forever
from shared.tokens import new_key
from shared.wire.v1 import probe_pb2, probe_pb2_grpc
from tests import pki
from tests.bench.figures import Figure
from tests.probes.ground import enrol
from tests.probes.peer import collecting, hello

PROBES = 1_000
AT_ONCE = 20
VITALS_S = 5.0
WATCHED_S = 20.0
ROOT = Path(__file__).parents[2]


def run() -> Iterator[Figure]:
    """Each probe with a connection of its own over mTLS, as it is; the database's memory is not counted."""
    megabytes, busy = uvloop.run(_measure())
    yield Figure(f"memory of {PROBES:,} idle probes in a collector", megabytes, "MB", at_most=100)
    yield Figure(f"CPU of a collector for {PROBES:,} idle probes", busy * 100, "%")


async def _measure() -> tuple[float, float]:
    """Megabytes more, and the share of a CPU."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    key = new_key()
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="tocsin-bench-"))
        embedded = Embedded(Path(directory))
        await embedded.start()
        stack.push_async_callback(embedded.stop)
        await migrate(embedded.url, utc_now())
        mine = await _enrol(embedded.url, key)
        collector, port = await stack.enter_async_context(_collector(embedded.url, key))
        before = collector.memory_info().rss
        for first in range(0, len(mine), AT_ONCE):
            part = mine[first : first + AT_ONCE]
            await asyncio.gather(
                *(stack.enter_async_context(_idle(port, credentials)) for credentials in part)
            )
        await asyncio.sleep(VITALS_S)
        spent, began = _cpu_s(collector), time.monotonic()
        await asyncio.sleep(WATCHED_S)
        busy = (_cpu_s(collector) - spent) / (time.monotonic() - began)
        return (collector.memory_info().rss - before) / 1e6, busy


async def _enrol(url: str, key: str) -> Sequence[Credentials]:
    db = await Db.open(url, size=2)
    trust = await authority.trust(db, Keyring.parse(key), utc_now())
    found = []
    for _ in range(PROBES):
        probe_id = uuid7()
        await enrol(db, probe_id, ["eu"])
        found.append(pki.certified(trust, probe_id=probe_id))
    await db.close()
    return found


@asynccontextmanager
async def _collector(url: str, key: str) -> AsyncIterator[tuple[psutil.Process, int]]:
    """A process of its own, until its input ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __spec__.name, "serve", cwd=ROOT,
        env={**os.environ, "BENCH_DATABASE": url, "BENCH_KEY": key},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield psutil.Process(process.pid), int(await process.stdout.readline())
    finally:
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def _idle(port: int, mine: Credentials) -> AsyncIterator[None]:
    """A probe that is connected, reads its plan, and sends its vitals."""
    async with pki.channel(port, mine) as channel:
        stream = probe_pb2_grpc.ProbeLinkStub(channel).Session()  # type: ignore[no-untyped-call]
        said = hello(probe_id=mine.passport.probe_id.bytes, boot_id=str(mine.passport.probe_id))
        await stream.write(probe_pb2.FromProbe(sent_us=boot_us(), hello=said))
        await stream.read()
        tasks = [asyncio.create_task(_read(stream)), asyncio.create_task(_tell(stream))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _read(stream: Any) -> None:
    while True:
        await stream.read()


async def _tell(stream: Any) -> None:
    while True:
        vitals = probe_pb2.Vitals(wall_us=time.time_ns() // 1000, rss_bytes=50_000_000)
        await stream.write(probe_pb2.FromProbe(sent_us=boot_us(), vitals=vitals))
        await asyncio.sleep(VITALS_S)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


async def _serve() -> None:
    db = await Db.open(os.environ["BENCH_DATABASE"], size=10)
    async with collecting(db, keyring=Keyring.parse(os.environ["BENCH_KEY"])) as collector:
        turning = asyncio.create_task(forever("sessions", collector.sessions.turn, timedelta(seconds=1)))
        print(collector.port, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        turning.cancel()
    await db.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        uvloop.run(_serve())
    else:
        for figure in run():
            print(figure)
