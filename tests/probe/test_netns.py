"""A probe behind a bad wire: what it says of its targets is true, and none of its results is lost."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from probe.link.connection import Keepalive
from shared.phases import unpack
from shared.results import Status
from shared.wire.convert import Batch
from shared.wire.v1 import probe_pb2
from tests.probe.peer import Peer
from tests.probe.test_app import has_holes, plan
from tests.probe.test_session import Probe
from tests.probe.wire import Wire, demand, laid
from tests.streams import stream_server

ROOT = Path(__file__).parents[2]
# A probe without a certificate talks to its own machine alone; this takes what it says across:
# from the host and port named first to those named last.
FORWARD = """
import asyncio, sys
async def pipe(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
async def main():
    async def take(reader, writer):
        far_reader, far_writer = await asyncio.open_connection(sys.argv[3], int(sys.argv[4]))
        await asyncio.gather(pipe(reader, far_writer), pipe(far_reader, writer), return_exceptions=True)
    await (await asyncio.start_server(take, sys.argv[1], int(sys.argv[2]))).serve_forever()
asyncio.run(main())
"""

pytestmark = [pytest.mark.races, pytest.mark.slow]


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    demand()
    with laid() as made:
        made.start()
        yield made
        made.stop()


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    made.host = "0.0.0.0"
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def target() -> AsyncIterator[int]:
    """The port of something that answers 204, at every address of this machine."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            await writer.drain()
            await reader.read()
        except (OSError, EOFError):
            pass  # the other end went
        finally:
            writer.transport.abort()

    async with stream_server(serve, "0.0.0.0", backlog=1000) as port:
        yield port


@asynccontextmanager
async def far_away(wire: Wire, peer: Peer, directory: Path) -> AsyncIterator[None]:
    """A probe at the other end of the wire."""
    peer.deployment.enrolled(directory)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    within = ["ip", "netns", "exec", wire.namespace, sys.executable]
    flags = ["--data-dir", str(directory), "--collector", "127.0.0.1:7070", "--log-level", "error"]
    commands = [
        [*within, "-c", FORWARD, "127.0.0.1", "7070", wire.here, str(peer.port)],
        [*within, "-m", "probe", *flags],
    ]
    async with started(commands, clean):
        yield


@asynccontextmanager
async def across(wire: Wire, peer: Peer) -> AsyncIterator[str]:
    """An address on this machine from which the way to *peer* leads over the wire and back."""
    near, far = "7071", "7072"
    commands = [
        [sys.executable, "-c", FORWARD, "127.0.0.1", near, wire.there, far],
        [
            "ip", "netns", "exec", wire.namespace,
            sys.executable, "-c", FORWARD, wire.there, far, wire.here, str(peer.port),
        ],
    ]  # fmt: skip
    async with started(commands, dict(os.environ)):
        yield f"127.0.0.1:{near}"


@asynccontextmanager
async def started(commands: list[list[str]], environment: dict[str, str]) -> AsyncIterator[None]:
    running = [
        await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment) for command in commands
    ]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            await process.wait()


def target_plan(wire: Wire, port: int) -> probe_pb2.ToProbe:
    message = plan(port, 20, 500, type_="http", timeout_ms=2000)
    for order in message.plan.upsert:
        order.config = b'{"url": "http://%s:%d/"}' % (wire.here.encode(), port)
    return message


def told(batches: list[Batch]) -> list[tuple[int, str]]:
    return [
        (outcome, batch.errors[error - 1] if error else "")
        for batch in batches
        for outcome, error in zip(batch.outcome, batch.error, strict=True)
    ]


async def test_delay_is_measured_and_loss_is_borne(
    wire: Wire, peer: Peer, target: int, tmp_path: Path
) -> None:
    wire.delay_s, wire.loss = 0.025, 0.05
    async with far_away(wire, peer, tmp_path):
        await peer.send_when_connected(target_plan(wire, target))
        await peer.until_results(200)
    good = [outcome for outcome, _ in told(peer.batches) if outcome == Status.UP]
    assert len(good) > 0.7 * len(peer.results)
    assert all(outcome != Status.UNKNOWN for outcome, _ in told(peer.batches))
    for batch in peer.batches:
        for outcome, packed in zip(batch.outcome, batch.phases, strict=True):
            phases = unpack(packed)
            if outcome == Status.UP:
                assert phases.connect_us
                assert phases.first_byte_us
                assert min(phases.connect_us, phases.first_byte_us) >= 49_000
    assert not has_holes(peer)


async def test_a_cut_is_told_as_what_it_is_and_costs_no_result(
    wire: Wire, peer: Peer, target: int, tmp_path: Path
) -> None:
    async with far_away(wire, peer, tmp_path):
        await peer.send_when_connected(target_plan(wire, target))
        await peer.until_results(100)
        before = len(peer.batches)
        wire.cut = True
        await asyncio.sleep(4)
        during = len(peer.batches)
        wire.cut = False
        async with asyncio.timeout(30):
            while not any(outcome == Status.DOWN for outcome, _ in told(peer.batches)):
                await asyncio.sleep(0.1)
        count = len(peer.results)
        await peer.until_results(count + 200)
    assert during - before <= 2
    bad = {error for outcome, error in told(peer.batches) if outcome != Status.UP}
    assert bad
    assert all("timed out" in error or "no answer" in error for error in bad), bad
    assert {outcome for outcome, _ in told(peer.batches)[-20:]} == {Status.UP}
    assert peer.out_of_order == 0
    assert peer.gaps == []
    assert not has_holes(peer)


async def test_a_session_that_says_nothing_is_given_up_and_nothing_is_lost_or_doubled(
    wire: Wire, peer: Peer, tmp_path: Path
) -> None:
    async with across(wire, peer) as collector:
        keepalive = Keepalive(ask_after_ms=1000, answer_within_ms=1000)
        probe = Probe(tmp_path, peer.deployment.probe(), collector, keepalive=keepalive)
        probe.tell(20)
        await peer.until_results(20)
        wire.cut = True
        probe.tell(20)
        async with asyncio.timeout(10):
            while probe.session.connected:
                await asyncio.sleep(0.05)
        probe.tell(20)
        wire.cut = False
        await peer.until_results(60)
        await probe.stop()
    assert len(peer.hellos) >= 2
    assert sorted(monitor for monitor, _, _ in peer.results) == list(range(1, 61))
    assert peer.out_of_order == 0
    assert peer.gaps == []
    assert not has_holes(peer)
