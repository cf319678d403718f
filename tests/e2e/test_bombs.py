"""Bodies made to hurt (S18): they are refused, cost little memory, and no neighbour has to wait for them."""

import asyncio
import gzip
import io
import time
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import cramjam
import pytest

from tests.e2e.burden import Burden
from tests.e2e.product import Caller, Product, running
from tests.remote_write import FIRST, first, named, pack, part, varint

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MB = 1 << 20
_MOST_MORE_MB = 150
_PROTOBUF = {"Content-Type": "application/x-protobuf"}
_JSON = {"Content-Type": "application/json"}
_GZIP = {"Content-Encoding": "gzip"}


@dataclass(frozen=True, slots=True)
class Target:
    """Where to push to, and as who."""

    url: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


def nested(depth: int) -> bytes:
    """A value within a value within a value."""
    value = b""
    for _ in range(depth):
        value = part(5, part(1, value))  # an array of one
    return part(1, part(1, part(1, part(1, b"a") + part(2, value))))


def names(count: int) -> bytes:
    """That many new series, each of a sample."""
    now = int(time.time() * 1000)
    sample = part(2, b"\x09" + bytes(8) + b"\x10" + varint(now))
    label = part(1, b"__name__")
    return b"".join(part(1, part(1, label + part(2, f"bomb_{n}".encode())) + sample) for n in range(count))


def labels(count: int) -> bytes:
    return part(1, b"".join(part(1, part(1, b"l%d" % n) + part(2, b"x")) for n in range(count)))


def packings(raw: bytes) -> list[tuple[bytes, dict[str, str]]]:
    """*raw* packed in each encoding that HTTP knows, and the header that names it."""
    packed = {
        "br": bytes(cramjam.brotli.compress(raw)),
        "deflate": zlib.compress(raw),
        "gzip": gzip.compress(raw),
        "zstd": bytes(cramjam.zstd.compress(raw)),
    }
    return [(body, {"Content-Encoding": name}) for name, body in packed.items()]


def bombs() -> list[tuple[str, bytes, dict[str, str]]]:
    """The type of the monitor, the body, its headers."""
    zeros = bytes(64 * MB)
    return [
        ("prometheus", varint(2**32 - 1) + b"\xfe" * 1000, FIRST),
        ("prometheus", varint(16 * MB) + b"\xfe" * 1000, FIRST),
        ("prometheus", pack(zeros[: 16 * MB]), FIRST),
        ("prometheus", pack(zeros), FIRST),
        *(("prometheus", packed, {**FIRST, **encoded}) for packed, encoded in packings(zeros)),
        ("prometheus", pack(names(180_000)), FIRST),
        ("prometheus", pack(labels(60_000)), FIRST),
        ("prometheus", pack(part(1, b"\x12\x00" * 500_000)), FIRST),
        *(("opentelemetry", packed, {**_PROTOBUF, **encoded}) for packed, encoded in packings(zeros)),
        ("opentelemetry", nested(20_000), _PROTOBUF),
        ("opentelemetry", b"\x0a\x00" * 8 * MB, _PROTOBUF),
        ("opentelemetry", b'{"resourceMetrics":' + b"[" * 100_000, _JSON),
        ("opentelemetry", gzip.compress(b'{"a":' * 3_000_000), {**_JSON, **_GZIP}),
    ]


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[tuple[Product, Caller]]:
    async with running(tmp_path) as both:
        yield both


async def test_bombs_are_refused_in_little_memory_beside_neighbours_at_ease(
    product: tuple[Product, Caller],
) -> None:
    tocsin, caller = product
    targets = {type_: await _made(caller, type_) for type_ in ("prometheus", "opentelemetry")}
    neighbour, ping = await _made(caller, "prometheus"), await _ping_url(tocsin, caller)
    sent = bombs() * 5
    await _push(caller, neighbour)
    burden = Burden(tocsin.pids("collector")[0])
    waits: list[float] = []
    asking = asyncio.create_task(_ask(caller, neighbour, ping, waits))

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as attacker:
        statuses = await asyncio.gather(
            *(_throw(attacker, targets[type_], body, headers) for type_, body, headers in sent)
        )
    assert not asking.done()
    asking.cancel()
    more_mb = burden.more_mb()

    assert set(statuses) <= {400, 413, 415, 429}
    assert more_mb < _MOST_MORE_MB
    assert max(waits) < 5
    assert await _push(caller, neighbour) == 204


async def _made(caller: Caller, type_: str) -> Target:
    config = {"otlpProtocol": "http/protobuf"} if type_ == "opentelemetry" else {}
    id_ = (await caller.made("/v1/monitors", {"type": type_, "name": type_, "config": config}))["id"]
    shown = (await caller.got(f"/v1/monitors/{id_}"))["config"]
    url = shown["ingestUrl"] if type_ == "prometheus" else shown["endpoint"] + "/v1/metrics"
    return Target(url, shown["authToken"])


async def _ping_url(product: Product, caller: Caller) -> str:
    body = {"type": "heartbeat", "name": "job", "config": {"expectedInterval": "1h"}}
    id_ = (await caller.made("/v1/monitors", body))["id"]
    return str((await caller.got(f"/v1/monitors/{id_}"))["config"]["pingUrl"])


async def _push(caller: Caller, target: Target) -> int:
    body = first((named("up", job="node"), int(time.time() * 1000), 1.0))
    async with caller.session.post(target.url, data=body, headers={**FIRST, **target.headers}) as answer:
        return answer.status


async def _ask(caller: Caller, neighbour: Target, ping: str, waits: list[float]) -> None:
    """A neighbour pushes, pings and asks how it goes, and notes how long he waits."""
    while True:
        start = time.monotonic()
        assert await _push(caller, neighbour) == 204
        pushed = time.monotonic()
        async with caller.session.get(ping) as answer:
            assert answer.status == 200
        pinged = time.monotonic()
        assert (await caller.call("GET", "/healthz"))[0] == 200
        waits += [pushed - start, pinged - pushed, time.monotonic() - pinged]
        await asyncio.sleep(0.25)


async def _throw(session: aiohttp.ClientSession, target: Target, body: bytes, headers: dict[str, str]) -> int:
    """Its status; who is answered before he has sent it all may find the connection closed instead."""
    sent = {**headers, **target.headers}
    try:
        async with session.post(target.url, data=io.BytesIO(body), headers=sent) as answer:
            await answer.read()
            return answer.status
    except aiohttp.ClientConnectionError:
        return 400
