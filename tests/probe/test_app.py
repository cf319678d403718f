"""The whole probe as a process: it checks, tells, stops when asked, and loses nothing when it is killed."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest

from shared.results import Status
from shared.schedule import plan_hash
from shared.wire.v1 import probe_pb2
from tests.pki import Deployment
from tests.probe.peer import Peer
from tests.streams import stream_server

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def target() -> AsyncIterator[int]:
    """The port of something that accepts."""

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with stream_server(hang_up) as port:
        yield port


@asynccontextmanager
async def running(directory: Path, peer: Peer, *flags: str) -> AsyncIterator[asyncio.subprocess.Process]:
    peer.deployment.enrolled(
        directory, flags[flags.index("--location") + 1] if "--location" in flags else "local"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "probe",
        "--data-dir", str(directory), "--collector", f"127.0.0.1:{peer.port}", *flags,
        cwd=ROOT, env={name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")},
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def plan(
    port: int, count: int, interval_ms: int, *, type_: str = "tcp", first: int = 1, timeout_ms: int = 1000
) -> probe_pb2.ToProbe:
    config = b'{"host": "127.0.0.1", "port": %d, "url": "http://127.0.0.1:%d/"}' % (port, port)
    orders = [
        probe_pb2.Assignment(
            number=number, monitor=number, location=1, revision=1, type=type_, config=config,
            interval_ms=interval_ms, timeout_ms=timeout_ms, failure_threshold=3, recovery_threshold=1,
        )
        for number in range(first, first + count)
    ]  # fmt: skip
    hash_ = plan_hash((number, 1) for number in range(first, first + count))
    return probe_pb2.ToProbe(
        plan=probe_pb2.Plan(number=1, starts_snapshot=True, ends_snapshot=True, upsert=orders, hash=hash_)
    )


def starts_of(peer: Peer) -> dict[int, list[int]]:
    """When the regular checks of each monitor started, by the probe's clock."""
    found: dict[int, list[int]] = defaultdict(list)
    for batch in peer.batches:
        for monitor, start_us in zip(batch.monitor, batch.start_us, strict=True):
            found[monitor].append(batch.base_us + start_us)
    return {monitor: sorted(times) for monitor, times in found.items()}


def has_holes(peer: Peer) -> bool:
    """Is there an incarnation of which a batch is missing?"""
    seen: dict[int, set[int]] = defaultdict(set)
    for _, incarnation, seq in peer.results:
        seen[incarnation].add(seq)
    return any(seqs != set(range(1, max(seqs) + 1)) for seqs in seen.values())


async def test_it_checks_tells_and_stops_when_asked(tmp_path: Path, peer: Peer, target: int) -> None:
    async with running(tmp_path, peer, "--location", "lab") as process:
        await peer.send_when_connected(plan(target, 20, 500))
        await peer.until(lambda: len(peer.results) > 60)
        assert list(peer.hellos[0].locations) == ["lab"]
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            assert await process.wait() == 0
    assert peer.half_closed == 1
    assert not has_holes(peer)
    # Everything that it had was told before it went.
    await peer.stop()
    await peer.start()
    before = len(peer.results)
    async with running(tmp_path, peer):
        await peer.until(lambda: len(peer.hellos) == 2)
    assert len(peer.results) == before
    assert UUID(bytes=peer.hellos[1].probe_id) == UUID(bytes=peer.hellos[0].probe_id)


async def test_killed_again_and_again_it_loses_nothing(tmp_path: Path, peer: Peer, target: int) -> None:
    for round_ in range(4):
        async with running(tmp_path, peer) as process:
            await peer.until_hellos(round_ + 1)
            await asyncio.sleep(0.2)
            await peer.send_when_connected(plan(target, 50, 100))
            await peer.until_results(len(peer.results) + 100)
            if round_ == 2:
                peer.acking.clear()
                await asyncio.sleep(0.5)
            process.kill()
            await process.wait()
            peer.acking.set()
    async with running(tmp_path, peer):
        await peer.until_hellos(5)
        await asyncio.sleep(0.5)
    told = {span.incarnation: span.last_seq for span in peer.hellos[-1].spooled}
    assert len(told) >= 4
    assert {incarnation % 2**64: seq for incarnation, seq in peer.committed.items() if seq} == told
    assert peer.gaps == []
    assert peer.out_of_order == 0
    assert not has_holes(peer)


async def test_a_process_that_stood_still_goes_on_without_burst_or_false_alarm(
    tmp_path: Path, peer: Peer
) -> None:
    async def wait(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        with contextlib.suppress(OSError):
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            writer.close()
            await writer.wait_closed()

    async with stream_server(wait, backlog=1000) as port:
        async with running(tmp_path, peer) as process:
            await peer.send_when_connected(plan(port, 100, 300, type_="http"))
            await peer.until_results(600)
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(3)
            process.send_signal(signal.SIGCONT)
            await peer.until_results(len(peer.results) + 600)
        await asyncio.sleep(0.5)  # until the last connections are closed
    starts = starts_of(peer)
    assert {outcome for batch in peer.batches for outcome in batch.outcome} <= {Status.UP, Status.UNKNOWN}
    for times in starts.values():
        gaps = [after - before for before, after in pairwise(times)]
        assert min(gaps) >= 140_000
        assert sum(gap > 1_500_000 for gap in gaps) == 1


async def test_targets_that_stall_hold_up_none_of_the_others(tmp_path: Path, peer: Peer, target: int) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as stalling:
        port = stalling.getsockname()[1]
        async with running(tmp_path, peer, "--max-concurrency", "60"):
            await peer.send_when_connected(plan(target, 50, 200))
            await peer.until_results(500)
            quick = len(peer.results)
            stalled = plan(port, 100, 1000, type_="http", first=1001, timeout_ms=10_000)
            stalled.plan.starts_snapshot = False
            stalled.plan.hash = 0
            await peer.send_when_connected(stalled)
            await asyncio.sleep(6)
    assert len(peer.results) - quick >= 0.9 * 50 * 5 * 5
    for monitor, times in starts_of(peer).items():
        assert monitor <= 1000
        gaps = sorted(after - before for before, after in pairwise(times))
        assert gaps[len(gaps) // 2] < 250_000
        assert gaps[-1] < 1_000_000


@pytest.mark.parametrize(
    ("enrolled", "flags", "word"),
    [
        pytest.param(False, [], "TOCSIN_JOIN_TOKEN", id="without a certificate or a token"),
        pytest.param(
            True, ["--location", "us"], "is for eu", id="at another place than its certificate says"
        ),
        pytest.param(False, ["--join-token", "tocsin_join_short"], "was it cut?", id="with half a token"),
    ],
)
def test_it_says_why_it_cannot_start(tmp_path: Path, enrolled: bool, flags: list[str], word: str) -> None:
    if enrolled:
        Deployment().enrolled(tmp_path, "eu")
    command = "import sys; from shared.command import main; sys.exit(main(sys.argv[1:]))"
    process = subprocess.run(
        [sys.executable, "-c", command, "probe", "--data-dir", str(tmp_path), *flags],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert word in process.stderr


async def test_a_second_probe_on_the_directory_is_refused(tmp_path: Path, peer: Peer) -> None:
    async with running(tmp_path, peer):
        await peer.until(lambda: peer.vitals)
        async with running(tmp_path, peer) as second:
            async with asyncio.timeout(10):
                _, data = await second.communicate()
            assert second.returncode != 0
            assert b"another probe uses" in data


async def test_it_is_small(tmp_path: Path, peer: Peer, target: int) -> None:
    async with running(tmp_path, peer):
        await peer.send_when_connected(plan(target, 1000, 10_000))
        await peer.until(lambda: len(peer.results) > 500)
        await peer.until(lambda: len(peer.vitals) > 1)
        assert peer.vitals[-1].rss_bytes < 90 * 1024 * 1024
