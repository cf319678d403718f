"""Three real probes behind bad wires: what befalls one of them raises no incident, a real outage does."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from tests.e2e.fleet import Fleet, Part, fleet
from tests.e2e.product import eventually
from tests.ports import free_port
from tests.probe.wire import Wire, demand, laid
from tests.streams import stream_server

ROOT = Path(__file__).parents[2]
PLACES = ("eu", "us", "ap")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

pytestmark = [pytest.mark.races, pytest.mark.slow]


@contextmanager
def address() -> Iterator[str]:
    """One address of this machine that all namespaces reach."""
    mark = os.getpid() % 60_000
    made = f"10.{230 + mark // 16_384}.{mark // 64 % 256}.{mark % 64 * 4 + 1}"
    subprocess.run(["ip", "addr", "add", f"{made}/32", "dev", "lo"], check=True)
    try:
        yield made
    finally:
        subprocess.run(["ip", "addr", "del", f"{made}/32", "dev", "lo"], check=True)


@asynccontextmanager
async def wires() -> AsyncIterator[list[Wire]]:
    """A namespace for each place, from which the only way leads over its wire."""
    async with AsyncExitStack() as stack:
        made = [stack.enter_context(laid(nth)) for nth in range(len(PLACES))]
        for wire in made:
            route = ["ip", "-n", wire.namespace, "route", "add", "default", "via", wire.here]
            subprocess.run(route, check=True)
            wire.start()
            stack.callback(wire.stop)
        yield made


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
    except (OSError, EOFError):
        pass  # the wire lost it
    finally:
        writer.transport.abort()


async def join(
    fleet: Fleet, collector: Part, wire: Wire, place: str, at: str
) -> "asyncio.subprocess.Process":
    """A probe at the other end of the wire."""
    token = await fleet.made("/v1/probe-tokens", {"location": place, "uses": 1}, at=collector)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    told = {
        "TOCSIN_DATA_DIR": str(fleet.directory / place),
        "TOCSIN_COLLECTOR": at,
        "TOCSIN_JOIN_TOKEN": token["token"],
        "TOCSIN_CANARIES": "none",
        "TOCSIN_LOG_LEVEL": "error",
    }
    words = ["ip", "netns", "exec", wire.namespace, sys.executable, "-m", "shared.command", "probe"]
    return await asyncio.create_subprocess_exec(*words, cwd=ROOT, env=clean | told)


async def test_loss_on_one_link_and_the_cut_of_another_raise_no_incident(
    database_url: str, tmp_path: Path
) -> None:
    demand()
    with address() as here:
        async with wires() as laid_wires, fleet(database_url, tmp_path) as three:
            await _live_through(three, laid_wires, here)


async def _live_through(fleet: Fleet, wires: list[Wire], here: str) -> None:
    at = f"{here}:{free_port()}"
    collector = await fleet.collector(GRPC_LISTEN=f"0.0.0.0:{at.rpartition(':')[2]}", GRPC_NAMES=here)
    running = [
        await join(fleet, collector, wire, place, at) for wire, place in zip(wires, PLACES, strict=True)
    ]
    try:
        async with stream_server(answer, here, backlog=1000) as port:
            await _monitors(fleet, f"http://{here}:{port}/")
            wires[0].loss = 0.05
            await asyncio.sleep(15)
            wires[1].cut = True
            await asyncio.sleep(15)
            wires[1].cut = False
            # What it saw meanwhile comes in, and is heard.
            assert await eventually(lambda: _failed(fleet, PLACES[1]), timeout_s=40)
            await eventually(lambda: _well(fleet), timeout_s=40)
            assert await fleet.rows("SELECT title FROM incidents") == []

        await eventually(lambda: fleet.rows("SELECT title FROM incidents"), timeout_s=30)
    finally:
        for process in running:
            process.kill()
            await process.wait()


async def _monitors(fleet: Fleet, url: str) -> None:
    """Ten of them, each checked from all places."""
    body = {"type": "http", "interval": 2, "timeout": 2, "locations": PLACES, "config": {"url": url}}
    for number in range(10):
        await fleet.made("/v1/monitors", {**body, "name": f"m {number}"})
    await eventually(lambda: _checked(fleet), timeout_s=40)


async def _checked(fleet: Fleet) -> bool:
    rows = await fleet.rows("SELECT 1 FROM states WHERE last_status = 1")
    return len(rows) == 10 * len(PLACES)


async def _failed(fleet: Fleet, place: str) -> bool:
    sql = "SELECT 1 FROM results JOIN locations USING (location) WHERE status = 2 AND name = $1"
    return len(await fleet.rows(sql, place)) >= 10


async def _well(fleet: Fleet) -> bool:
    return not await fleet.rows("SELECT 1 FROM states WHERE failing")
