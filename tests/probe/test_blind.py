"""A real probe at the end of a wire that is cut: what it cannot see it does not call down."""

import asyncio
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from shared.results import Status
from shared.wire.v1 import probe_pb2
from tests.probe.peer import Peer
from tests.probe.test_app import plan
from tests.probe.wire import Wire, demand, laid
from tests.streams import stream_server

ROOT = Path(__file__).parents[2]
# The machine's own side of the wire: something that listens where the probe is.
LISTEN = """
import socket, sys, time
servers = [socket.create_server((host, 7099), backlog=1000) for host in sys.argv[1:]]
for server in servers: server.setblocking(False)
while True:
    time.sleep(0.02)
    for server in servers:
        try:
            while True: server.accept()[0].close()
        except BlockingIOError: pass
"""

pytestmark = [pytest.mark.races, pytest.mark.slow, pytest.mark.usefixtures("side")]


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
def side(wire: Wire) -> Iterator[None]:
    """A second way out of the namespace, which the wire's cut leaves whole."""
    names = f"{wire.namespace[6:]}a", f"{wire.namespace[6:]}b"
    ip("link", "add", names[0], "type", "veth", "peer", "name", names[1], "netns", wire.namespace)
    ip("addr", "add", f"{beside(wire.here)}/30", "dev", names[0])
    ip("link", "set", names[0], "up")
    ip("-n", wire.namespace, "addr", "add", f"{beside(wire.there)}/30", "dev", names[1])
    ip("-n", wire.namespace, "link", "set", names[1], "up")
    yield
    ip("link", "del", names[0])  # with the namespace it would go some time later


@pytest.fixture
async def target() -> AsyncIterator[int]:
    """The port of something that accepts, at every address of this machine."""

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with stream_server(hang_up, "0.0.0.0", backlog=1000) as port:
        yield port


@asynccontextmanager
async def far_away(wire: Wire, peer: Peer, directory: Path, *canaries: str) -> AsyncIterator[None]:
    """A probe at the other end of the wire, which tells its collector by the side way."""
    peer.deployment.enrolled(directory)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    within = ["ip", "netns", "exec", wire.namespace, sys.executable]
    relay = "import sys; from tests.probe.test_netns import FORWARD; exec(FORWARD)"
    flags = ["--collector", "127.0.0.1:7070", "--log-level", "error"]
    flags += ["--canaries", ",".join(canaries)] if canaries else []
    commands = [
        [*within, "-c", LISTEN, "127.0.0.1", wire.there],
        [*within, "-c", relay, "127.0.0.1", "7070", beside(wire.here), str(peer.port)],
        [*within, "-m", "probe", "--data-dir", str(directory), *flags],
    ]
    running = [await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=clean) for command in commands]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            await process.wait()


def beside(address: str) -> str:
    """The address of the same end on the side way."""
    first, second, rest = address.split(".", 2)
    return f"{first}.{int(second) - 40}.{rest}"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def targets(wire: Wire, port: int) -> probe_pb2.ToProbe:
    """One and two are beyond the wire, three and four on the probe's own machine; five is there and shut."""
    message = plan(port, 5, 250, timeout_ms=500)
    hosts = ((wire.here, port), (wire.here, port), ("127.0.0.1", 7099), (wire.there, 7099), (wire.there, 9))
    for order, (host, at) in zip(message.plan.upsert, hosts, strict=True):
        order.config = b'{"host": "%s", "port": %d}' % (host.encode(), at)
    return message


def outcomes(peer: Peer, since: int = 0) -> dict[int, list[int]]:
    """The reported results of each monitor, from the batch *since* on."""
    found: dict[int, list[int]] = defaultdict(list)
    for batch in peer.batches[since:]:
        for monitor, outcome in zip(batch.monitor, batch.outcome, strict=True):
            found[monitor].append(outcome)
    return found


async def test_what_a_cut_hides_is_unknown_and_its_own_machine_is_judged(
    wire: Wire, peer: Peer, target: int, tmp_path: Path
) -> None:
    async with far_away(wire, peer, tmp_path, f"{wire.here}:{target}", wire.here):
        await peer.send_when_connected(targets(wire, target))
        await peer.until(lambda: min(map(len, outcomes(peer).values()), default=0) >= 4)
        wire.cut = True
        await peer.until(lambda: any(vitals.blind for vitals in peer.vitals))
        await peer.until(lambda: outcomes(peer)[1].count(Status.UNKNOWN) >= 8)
        wire.cut = False
        await peer.until(lambda: not peer.vitals[-1].blind)
        since = len(peer.batches)
        await peer.until(lambda: outcomes(peer, since).get(1, []).count(Status.UP) >= 4)
    told = outcomes(peer)
    assert {Status.UP, Status.UNKNOWN} == set(told[1]) == set(told[2])
    assert set(told[3]) == set(told[4]) == {Status.UP}
    assert set(told[5]) == {Status.DOWN}


async def test_one_canary_that_answers_keeps_the_probe_seeing(
    wire: Wire, peer: Peer, target: int, tmp_path: Path
) -> None:
    async with far_away(wire, peer, tmp_path, wire.here, beside(wire.here)):
        await peer.send_when_connected(targets(wire, target))
        await peer.until(lambda: min(map(len, outcomes(peer).values()), default=0) >= 4)
        wire.cut = True
        await peer.until(lambda: outcomes(peer)[1].count(Status.DOWN) >= 4)
    assert Status.UNKNOWN not in outcomes(peer)[1]
    assert not any(vitals.blind for vitals in peer.vitals)


async def test_loss_on_the_wire_is_no_blindness(wire: Wire, peer: Peer, target: int, tmp_path: Path) -> None:
    wire.loss, wire.delay_s = 0.05, 0.02
    async with far_away(wire, peer, tmp_path, f"{wire.here}:{target}"):
        await peer.send_when_connected(targets(wire, target))
        await peer.until_results(200)
    assert not any(vitals.blind for vitals in peer.vitals)
    assert outcomes(peer)[1].count(Status.UNKNOWN) == 0


@pytest.mark.parametrize("pinging", ["1 0", "0 0"], ids=["by a port", "by an echo"])
async def test_the_default_gateway_is_a_canary_if_nobody_names_others(
    wire: Wire, peer: Peer, target: int, tmp_path: Path, pinging: str
) -> None:
    set_ = f"echo {pinging} > /proc/sys/net/ipv4/ping_group_range"
    ip("netns", "exec", wire.namespace, "sh", "-c", set_)
    ip("-n", wire.namespace, "route", "add", "default", "via", wire.here)
    async with far_away(wire, peer, tmp_path):
        await peer.send_when_connected(targets(wire, target))
        await peer.until(lambda: min(map(len, outcomes(peer).values()), default=0) >= 4)
        wire.cut = True
        await peer.until(lambda: peer.vitals[-1].blind)
    assert Status.DOWN not in outcomes(peer)[1]
