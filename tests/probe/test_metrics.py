"""The probe tells Prometheus how it does, and nobody who talks to that port can harm it."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from probe.metrics import serving
from tests.ports import free_port
from tests.probe.peer import Peer
from tests.probe.test_app import plan, running
from tests.receiver import receiving

pytestmark = pytest.mark.races

PATIENCE_S = 1.0
SAMPLE = re.compile(r'([a-z_]+)(\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? (\S+)')


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    await made.start()
    yield made
    await made.stop()


async def ask(port: int, words: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(words)
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.close()


def samples(answer: bytes) -> dict[str, float]:
    head, _, body = answer.decode().partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 OK\r\n")
    assert f"Content-Length: {len(body)}" in head
    found = {}
    for line in body.splitlines():
        if not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            assert match, line
            found[match[1] + (match[2] or "")] = float(match[3])
    return found


async def test_all_that_matters_is_told(tmp_path: Path, peer: Peer) -> None:
    port = free_port()
    async with receiving() as target, running(tmp_path, peer, "--metrics-listen", f"127.0.0.1:{port}"):
        good = int(target.url("/").rsplit(":", 1)[1].strip("/"))
        await peer.send_when_connected(plan(good, 20, 500))
        await peer.until_results(60)
        told = samples(await ask(port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"))
        assert b"\r\n\r\nok\n" in await ask(port, b"GET /healthz HTTP/1.0\r\n\r\n")
    started = told['tocsin_probe_checks_started_total{type="tcp"}']
    assert started >= 60
    assert told['tocsin_probe_checks_due_total{type="tcp"}'] >= started
    assert 60 <= told['tocsin_probe_checks_total{type="tcp",outcome="up"}'] <= started
    assert told['tocsin_probe_checks_total{type="tcp",outcome="down"}'] == 0
    assert told["tocsin_probe_start_late_seconds_count"] == started
    assert told['tocsin_probe_start_late_seconds_bucket{le="+Inf"}'] == started
    assert told["tocsin_probe_loop_lag_seconds_count"] >= 1
    assert told["tocsin_probe_plan_assignments"] == 20
    assert told["tocsin_probe_session_connected"] == 1
    assert told["tocsin_probe_spool_bytes"] > 0
    assert told["tocsin_probe_results_lost_total"] == 0
    assert 10_000_000 < told["process_resident_memory_bytes"] < 200_000_000
    assert told["process_open_fds"] > 5
    assert 0 < told["process_cpu_seconds_total"] < 60
    for name in ("skipped_total", "running"):
        assert f'tocsin_probe_checks_{name}{{type="tcp"}}' in told


@pytest.mark.parametrize(
    ("words", "status"),
    [
        pytest.param(b"GET /etc/passwd HTTP/1.1\r\n\r\n", b"404", id="another path"),
        pytest.param(b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", b"405", id="another method"),
        pytest.param(b"HEAD /metrics HTTP/1.1\r\n\r\n", b"200", id="head"),
        pytest.param(b"GET /metrics?x=1 HTTP/1.1\r\n\r\n", b"200", id="a query"),
        pytest.param(b"GET /metrics\r\n\r\n", b"400", id="HTTP/0.9"),
        pytest.param(b"\x16\x03\x01\x02\x00\r\n\r\n", b"400", id="TLS"),
        pytest.param(b"\r\n\r\n", b"400", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000, b"400", id="too much"),
        pytest.param(b"GET / HTTP/1.1\r\n", b"", id="half of a head"),
    ],
)
async def test_each_question_gets_its_answer(words: bytes, status: bytes, served: int) -> None:
    try:
        answer = await ask(served, words)
    except ConnectionResetError:
        answer = b""  # what was not read when it was closed
    assert answer[9:12] in {status, b""}
    assert answer or status in {b"", b"400"}
    if words.startswith(b"HEAD"):
        assert answer.endswith(b"\r\n\r\n")


async def test_those_who_hold_on_are_few_and_do_not_stay(served: int) -> None:
    before = psutil.Process().num_fds()
    held = [await asyncio.open_connection("127.0.0.1", served) for _ in range(60)]
    ends = asyncio.as_completed([hung_up(reader) for reader, _ in held])
    async with asyncio.timeout(PATIENCE_S / 2):
        for _ in range(44):
            await next(ends)
    assert psutil.Process().num_fds() <= before + 60 + 16
    async with asyncio.timeout(PATIENCE_S * 5):
        for end in ends:
            await end
    assert psutil.Process().num_fds() <= before + 60
    assert b"200 OK" in await ask(served, b"GET /healthz HTTP/1.1\r\n\r\n")
    for _, writer in held:
        writer.close()


async def test_a_port_that_is_taken_is_told_at_the_start(tmp_path: Path, peer: Peer) -> None:
    listen = f"127.0.0.1:{peer.port}"
    async with running(tmp_path, peer, "--metrics-listen", listen) as process:
        async with asyncio.timeout(10):
            _, data = await process.communicate()
    assert process.returncode not in {0, None}
    assert b"TOCSIN_METRICS_LISTEN" in data


async def hung_up(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(ConnectionResetError):
        assert await reader.read() == b""


@pytest.fixture
async def served() -> AsyncIterator[int]:
    port = free_port()
    async with serving(f"127.0.0.1:{port}", lambda _: "metric 1\n", PATIENCE_S):
        yield port
