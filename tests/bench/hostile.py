"""What neighbours notice of requests that once stopped a collector or a probe, beside 1,000 checks a second.

``python -m tests.bench.hostile``
"""

import asyncio
import contextlib
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
import cramjam
import uvloop
from aiohttp import web

from tests.bench.figures import Figure
from tests.e2e.product import Caller, Product, connected, eventually, running
from tests.ports import free_port

MONITORS: Final = 5_000
INTERVAL_S: Final = 5
SECONDS: Final = 8
AT_ONCE: Final = 8
EVERY_S: Final = 0.05
MB: Final = 1 << 20

# One request, or a few, of one attacker; the statuses that answered.
Attack = Callable[["World"], Awaitable[list[int]]]


@dataclass(slots=True)
class World:
    """*attacker* and *neighbour* are of two teams; *heavy* is the URL of a large JSON document."""

    product: Product
    attacker: Caller
    neighbour: Caller
    metrics: str
    heavy: str
    paths: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Noticed:
    """Seconds that each request of the neighbour took; *late*: checks that started over a second late.

    *answers*: how often the attackers were answered by which status, 0 where the connection broke.
    """

    health: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    checks: float = 0
    late: float = 0
    answers: Counter[int] = field(default_factory=Counter)


def run() -> Iterator[Figure]:
    """For each attack: the worst /healthz, the 99th percentile of another team's reads, late checks."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        world = _world()
        entered = runner.run(world.__aenter__())
        try:
            for name, attack in ATTACKS.items():
                noticed = runner.run(_beside(entered, attack))
                answers = ", ".join(f"{count} x {status}" for status, count in noticed.answers.most_common())
                print(f"{name}: answered {answers or 'nothing'}", flush=True)
                yield from _figures(name, noticed)
        finally:
            runner.run(world.__aexit__(None, None, None))


def _figures(name: str, noticed: Noticed) -> Iterator[Figure]:
    yield Figure(f"{name}: /healthz, worst", max(noticed.health) * 1000, "ms", at_most=100)
    yield Figure(f"{name}: reads of another team, p99", _p99(noticed.reads) * 1000, "ms", at_most=200)
    yield Figure(f"{name}: checks a second", noticed.checks, "checks")
    yield Figure(f"{name}: checks over 1 s late", noticed.late, "checks", at_most=0)


async def _beside(world: World, attack: Attack) -> Noticed:
    noticed = Noticed()
    before = await _starts(world)
    began = time.monotonic()
    attackers = [asyncio.create_task(_again(world, attack, noticed.answers)) for _ in range(AT_ONCE)]
    asking = [
        asyncio.create_task(_ask(world.neighbour, ["/healthz"], noticed.health)),
        asyncio.create_task(_ask(world.neighbour, ["/v1/monitors", "/v1/me"], noticed.reads)),
    ]
    await asyncio.sleep(SECONDS)
    left: set[asyncio.Task[None]] = {*attackers, *asking}
    while left:  # a client's own time limit may take the first cancellation for itself
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=1)
    after = await _starts(world)
    noticed.checks = (after[0] - before[0]) / (time.monotonic() - began)
    noticed.late = after[1] - before[1]
    return noticed


async def _again(world: World, attack: Attack, answers: Counter[int]) -> None:
    """The attack of one client, until it is cancelled."""
    while True:
        try:
            answers.update(await attack(world))
        except (aiohttp.ClientError, TimeoutError, OSError):
            answers[0] += 1
        await asyncio.sleep(0)


async def _ask(caller: Caller, paths: list[str], waits: list[float]) -> None:
    for path in itertools.cycle(paths):
        start = time.monotonic()
        status, _ = await caller.call("GET", path)
        assert status == 200, (path, status)
        waits.append(time.monotonic() - start)
        await asyncio.sleep(EVERY_S)


async def _starts(world: World) -> tuple[float, float]:
    """Checks that started so far, and those of them that were over a second late."""
    async with world.neighbour.session.get(world.metrics) as answer:
        text = await answer.text()
    name = "tocsin_probe_start_late_seconds"
    count = float(_number(text, rf"{name}_count (\S+)"))
    return count, count - float(_number(text, rf'{name}_bucket{{le="1.0"}} (\S+)'))


def _number(text: str, pattern: str) -> str:
    match = re.search(pattern, text)
    assert match, pattern
    return match[1]


# --- the attacks -------------------------------------------------------------------------------------------


async def _nothing(_: World) -> list[int]:
    await asyncio.sleep(1)
    return []


async def _packed(world: World) -> list[int]:
    return [
        await _post(world, path, body, {"Content-Encoding": encoding})
        for encoding, body in PACKED
        for path in ("/v1/me", "/nowhere", "/sign-in", "/healthz")
    ]


async def _metrics_bomb(world: World) -> list[int]:
    body = bytes(cramjam.snappy.compress_raw(bytes(16 * MB)))
    return [await _post(world, world.paths["push"].removeprefix(world.product.url), body, FIRST)]


async def _jsonpath(world: World) -> list[int]:
    paths = ("$" + "..[*]" * 12 + ".zzz", "$..[*]..[*].zzz", "$..zzz")
    return [await _trial(world, {"source": "json", "path": path, "op": "exists"}) for path in paths]


async def _patterns(world: World) -> list[int]:
    return [await _trial(world, {"source": "body", "op": "matches", "value": "(x+x+)+y" * 100})]


async def _trial(world: World, assertion: Mapping[str, Any]) -> int:
    config = {"url": world.heavy, "assertions": [assertion] * 20}
    body = {"type": "http", "config": config}
    return (await world.attacker.call("POST", "/v1/monitors/test", body))[0]


async def _passwords(world: World) -> list[int]:
    body = {"visibility": "private", "password": "as long as it must be"}
    return [(await world.attacker.call("PUT", world.paths["page"], body))[0]]


async def _keyed_apply(world: World) -> list[int]:
    headers = {
        "Authorization": f"Bearer {world.attacker.token}",
        "Idempotency-Key": f"key-{next(_NUMBERS)}",
    }
    monitors = [{"key": f"k{n}", "name": f"k{n}", "type": "tcp", "config": TCP} for n in range(20)]
    return [await _post(world, "/v1/apply", json.dumps({"monitors": monitors}).encode(), headers)]


async def _slow_bodies(world: World) -> list[int]:
    reader, writer = await asyncio.open_connection("127.0.0.1", world.product.http)
    writer.write(b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
    try:
        while not reader.at_eof():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.2)
    finally:
        writer.close()
    return [int((await reader.read()).split()[1])]


async def _streams(world: World) -> list[int]:
    headers = {"Authorization": f"Bearer {world.attacker.token}"}
    async with world.attacker.session.get(world.product.url + "/v1/events", headers=headers) as answer:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(answer.content.read(1000), 1)
        answer.close()  # else leaving waits for the end of a stream that has none
        return [answer.status]


async def _post(world: World, path: str, body: bytes, headers: Mapping[str, str]) -> int:
    url = world.product.url + path
    async with world.attacker.session.post(url, data=body, headers=headers, allow_redirects=False) as answer:
        await answer.read()
        return answer.status


_NUMBERS = itertools.count()
FIRST: Final = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}
TCP: Final = {"host": "127.0.0.1", "port": 9}
PACKED: Final = [
    ("br", bytes(cramjam.brotli.compress(bytes(256 * MB), level=5))),
    ("deflate", zlib.compress(bytes(128 * MB))),
]
ATTACKS: Final[Mapping[str, Attack]] = {
    "nothing": _nothing,
    "packed bodies": _packed,
    "remote write bombs": _metrics_bomb,
    "JSONPath": _jsonpath,
    "patterns": _patterns,
    "passwords of pages": _passwords,
    "apply with keys": _keyed_apply,
    "slow bodies": _slow_bodies,
    "event streams": _streams,
}


# --- the world they are in ---------------------------------------------------------------------------------


@asynccontextmanager
async def _world() -> AsyncIterator[World]:
    """A product with MONITORS that a probe checks, two teams, and a document that is heavy to look into."""
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as directory, _target() as port:
        listen = f"127.0.0.1:{free_port()}"
        async with (
            running(Path(directory), METRICS_LISTEN=listen) as (product, caller),
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as many,
            _document() as heavy,
        ):
            await eventually(lambda: connected(caller))
            world = World(
                product, Caller(product, many, _team(product)), caller, f"http://{listen}/metrics", heavy
            )
            await _fill(caller, port)
            await _prepare(world)
            await asyncio.sleep(2 * INTERVAL_S)
            yield world


async def _fill(caller: Caller, port: int) -> None:
    numbers = iter(range(MONITORS))

    async def make() -> None:
        for number in numbers:
            body = {"name": f"m{number}", "type": "tcp", "config": {"host": "127.0.0.1", "port": port}}
            await caller.made("/v1/monitors", {**body, "interval": INTERVAL_S, "timeout": 4})

    await asyncio.gather(*(make() for _ in range(8)))


async def _prepare(world: World) -> None:
    page = await world.attacker.made("/v1/status-pages", {"name": "Example"})
    world.paths["page"] = f"/v1/status-pages/{page['id']}"
    made = await world.attacker.made("/v1/monitors", {"type": "prometheus", "name": "push"})
    shown = (await world.attacker.got(f"/v1/monitors/{made['id']}"))["config"]
    world.paths["push"] = shown["ingestUrl"]
    FIRST["Authorization"] = f"Bearer {shown['authToken']}"


def _team(product: Product) -> str:
    """The token of another team's admin."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    command = [sys.executable, "-m", "shared.command", "team", "create", "Other", "--plan", "enterprise"]
    text = subprocess.run(
        [*command, "--data-dir", str(product.data_dir)],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    match = re.search(r"\b[a-z]+_[A-Za-z0-9]{20,}\b", text)
    assert match, text
    return match[0]


@contextlib.contextmanager
def _target() -> Iterator[int]:
    command = [sys.executable, "-m", "tests.bench.target"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline().split()[0])
        finally:
            process.kill()


@asynccontextmanager
async def _document() -> AsyncIterator[str]:
    """A megabyte of JSON, nested as deep as it may be."""
    nested = "[" * 60 + "1" + "]" * 60
    body = ("[" + ",".join([nested, '"' + "x" * 1000 + '"'] * 800) + "]").encode()

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    app.router.add_get("/", answer)
    runner, port = web.AppRunner(app), free_port()
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        await runner.cleanup()


def _p99(waits: list[float]) -> float:
    return statistics.quantiles(waits, n=100)[98]


if __name__ == "__main__":
    for figure in run():
        print(figure, flush=True)
