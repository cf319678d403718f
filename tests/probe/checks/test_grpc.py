"""The grpc check: the health protocol, asked of grpcio's own server."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.grpc import Grpc
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.zoo import HERE, MIDDLE, ROOT, STRANGER, Issued, issue
from tests.probe.targets import shut_port, target

pytestmark = pytest.mark.races

Answer = Callable[[bytes, Any], Awaitable[bytes]]


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    yield net
    net.close()


@asynccontextmanager
async def health(answer: Answer | None, *chain: Issued) -> AsyncIterator[int]:
    server = grpc.aio.server()
    if answer is not None:
        handlers = {"Check": grpc.unary_unary_rpc_method_handler(answer)}
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("grpc.health.v1.Health", handlers),)
        )
    if chain:
        pem = b"".join(one.pem for one in chain)
        port = server.add_secure_port(f"{HERE}:0", grpc.ssl_server_credentials([(chain[0].key_pem, pem)]))
    else:
        port = server.add_insecure_port(f"{HERE}:0")
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)


async def check(net: Net, port: int, timeout_s: float = 5.0, **config: Any) -> Outcome:
    return (await run(CHECKS["grpc"](Grpc(host=HERE, port=port, **config)), net, timeout_s)).outcome


def says(status: bytes) -> Answer:
    async def answer(_question: bytes, _context: Any) -> bytes:
        return status

    return answer


def aborts(code: grpc.StatusCode) -> Answer:
    async def answer(_question: bytes, context: Any) -> bytes:
        await context.abort(code, "because")
        return b""

    return answer


async def hangs(_question: bytes, _context: Any) -> bytes:
    await asyncio.Event().wait()
    return b""


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (says(b"\x08\x01"), ""),
        (says(b"\x08\x02"), "grpc: NOT_SERVING"),
        (says(b"\x08\x03"), "grpc: SERVICE_UNKNOWN"),
        (says(b""), "grpc: UNKNOWN"),
        (says(b"\xff\xff\xff"), "grpc: malformed answer"),
        (aborts(grpc.StatusCode.NOT_FOUND), "grpc: the server does not know this service"),
        (aborts(grpc.StatusCode.UNAUTHENTICATED), "grpc: UNAUTHENTICATED 'because'"),
        (None, "grpc: the server has no health service"),
    ],
)
async def test_what_the_server_says_is_told(net: Net, answer: Answer | None, error: str) -> None:
    async with health(answer) as port:
        outcome = await check(net, port)

    assert outcome.error == error
    assert outcome.status is (Status.DOWN if error else Status.UP)


async def test_a_server_that_does_not_answer_is_down_in_time(net: Net) -> None:
    async with health(hangs) as port:
        outcome = await check(net, port, 0.5)

    assert outcome.error == "grpc: no answer within 0.5 s"


async def test_the_service_is_asked_for_by_its_name(net: Net) -> None:
    async def answer(question: bytes, _context: Any) -> bytes:
        return b"\x08\x01" if question == b"\x0a\xc8\x01" + b"s" * 200 else b"\x08\x03"

    async with health(answer) as port:
        assert (await check(net, port, service="s" * 200)).error == ""


async def test_tls_is_verified(net: Net) -> None:
    async with health(says(b"\x08\x01"), issue("x", MIDDLE), MIDDLE) as port:
        assert (await check(net, port, tls=True)).error == ""
    async with health(says(b"\x08\x01"), issue("x", STRANGER), STRANGER) as port:
        outcome = await check(net, port, tls=True)

    assert outcome.error == "tls: issued by an authority that is not trusted (Strange Root)"


async def test_no_server_is_told_as_ever(net: Net) -> None:
    with shut_port() as port:
        assert (await check(net, port)).error == f"connect: refused by {HERE}:{port}"


async def test_one_that_speaks_something_else_is_down(net: Net) -> None:
    with target(targets.sends(b"220 mail\r\n")) as server:
        outcome = await check(net, server.port, 1.0)

    assert outcome.status is Status.DOWN
    assert outcome.error.startswith("grpc: ")


async def test_a_guarded_probe_asks_nobody_within() -> None:
    net = Net(allow_private=False)
    try:
        async with health(says(b"\x08\x01")) as port:
            outcome = await check(net, port)
    finally:
        net.close()

    assert outcome.error.startswith("connect: ")


def sockets() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def test_a_server_that_never_answers_keeps_no_sockets(net: Net) -> None:
    with socket.create_server((HERE, 0), backlog=64) as mute:
        before = sockets()
        await asyncio.gather(*(check(net, mute.getsockname()[1], 0.2) for _ in range(10)))
        async with asyncio.timeout(10):
            while sockets() > before + 5:
                await asyncio.sleep(0.05)
