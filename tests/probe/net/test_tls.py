"""TLS: what is trusted, for how long, and that a shorter handshake is no weaker one."""

import asyncio
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.tls.openssl import TrustedChains
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.nameserver import NameServer, name_server
from tests.probe.net.zoo import DAY, HERE, MIDDLE, NOW, ROOT, STRANGER, issue, serving
from tests.probe.targets import OK, says, target

pytestmark = pytest.mark.races

HOST, OTHER = "api.example.com", "www.example.com"
INCOMPLETE = "tls: chain is incomplete: issuer Zoo Middle was not sent, and is no trusted authority itself"


@pytest.fixture
def names() -> Iterator[NameServer]:
    with name_server() as server:
        server.names = {HOST: [HERE], OTHER: [HERE]}
        yield server


@pytest.fixture(params=[False, True], ids=["openssl", "rustls"])
async def net(names: NameServer, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem", nameservers=[names.address])
    net.trust = TrustedChains(tmp_path / "root.pem", rustls=request.param)
    yield net
    net.close()


async def check(net: Net, port: int, host: str = HERE, timeout_s: float = 5.0, **config: Any) -> Outcome:
    kind = Http(url=f"https://{host}:{port}/", **config)
    return (await run(CHECKS["http"](kind), net, timeout_s)).outcome


class Server:
    """Serves TLS with whatever *context* is set at the time."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.context = context
        self.shaken = 0

    def __call__(self, sock: socket.socket) -> None:
        with targets.secure(self.context, sock) as wrapped:
            self.shaken += 1
            targets.read_request(wrapped)
            wrapped.sendall(OK)


@contextmanager
def serving_tls(context: ssl.SSLContext) -> Iterator[tuple[Server, int]]:
    server = Server(context)
    with target(server) as listening:
        yield server, listening.port


def good(*hosts: str) -> ssl.SSLContext:
    return serving(issue("leaf", MIDDLE, hosts=hosts or (HERE,)), MIDDLE)


async def test_a_good_certificate_is_up_and_its_handshake_timed(net: Net) -> None:
    with serving_tls(good()) as (_, port):
        outcomes = [await check(net, port) for _ in range(3)]

    assert [(outcome.status, outcome.error, outcome.code) for outcome in outcomes] == [
        (Status.UP, "", 200)
    ] * 3
    assert all((outcome.phases.tls_us or 0) > 0 for outcome in outcomes)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: serving(issue("leaf", MIDDLE, ends=-DAY), MIDDLE), id="expired"),
        pytest.param(lambda: good("b.example.com"), id="for another host"),
        pytest.param(lambda: serving(issue("leaf")), id="self-signed"),
        pytest.param(lambda: serving(issue("leaf", STRANGER)), id="by a stranger"),
    ],
)
async def test_a_bad_certificate_is_down_unless_that_does_not_matter(
    make: Callable[[], ssl.SSLContext], net: Net
) -> None:
    with serving_tls(make()) as (_, port):
        strict = [await check(net, port) for _ in range(2)]
        lax = await check(net, port, verify_tls=False)
        again = await check(net, port)

    assert {outcome.status for outcome in [*strict, again]} == {Status.DOWN}
    assert lax.status is Status.UP


async def test_a_chain_that_was_verified_makes_the_next_handshake_shorter(net: Net) -> None:
    with serving_tls(good()) as (server, port):
        to = Endpoint.of(HERE, port, tls=True)
        before = net.trust.manner(to)
        await check(net, port)
        after = net.trust.manner(to)
        await check(net, port)

    assert before is net.trust.strict()
    assert after is not net.trust.strict()
    assert server.shaken == 2


@pytest.mark.parametrize(
    ("worse", "error"),
    [
        pytest.param(
            lambda: serving(issue("leaf", MIDDLE, ends=-DAY), MIDDLE),
            "tls: certificate expired 1 day ago",
            id="an expired one",
        ),
        pytest.param(
            lambda: good("b.example.com"),
            "tls: certificate is for b.example.com, not 127.0.0.1",
            id="one for another host",
        ),
        pytest.param(lambda: serving(issue("leaf")), "tls: self-signed certificate", id="a self-signed one"),
        pytest.param(lambda: serving(issue("leaf", MIDDLE)), INCOMPLETE, id="one without its issuer"),
    ],
)
async def test_a_chain_that_turns_bad_is_down_at_once(
    worse: Callable[[], ssl.SSLContext], error: str, net: Net
) -> None:
    with serving_tls(good()) as (server, port):
        before = await check(net, port)
        server.context = worse()
        after = await check(net, port)
        server.context = good()
        back = await check(net, port)

    assert (before.status, after.error, back.status) == (Status.UP, error, Status.UP)


async def test_the_same_leaf_without_its_issuer_is_down_at_once(net: Net) -> None:
    leaf = issue("leaf", MIDDLE)
    with serving_tls(serving(leaf, MIDDLE)) as (server, port):
        before = await check(net, port)
        server.context = serving(leaf)
        after = await check(net, port)

    assert (before.status, after.error) == (Status.UP, INCOMPLETE)


async def test_a_chain_trusted_for_one_host_is_not_so_for_another(net: Net) -> None:
    with serving_tls(good(HOST)) as (_, port):
        own = await check(net, port, HOST)
        other = await check(net, port, OTHER)

    assert (own.status, other.error) == (Status.UP, f"tls: certificate is for {HOST}, not {OTHER}")


async def test_a_host_that_shows_two_good_chains_by_turns_is_up(net: Net) -> None:
    contexts = [good(), good()]
    with serving_tls(contexts[0]) as (server, port):
        outcomes = []
        for turn in range(6):
            server.context = contexts[turn % 2]
            outcomes.append(await check(net, port))

    assert {outcome.status for outcome in outcomes} == {Status.UP}
    assert server.shaken == 7  # the second chain was met unverified once, then verified


async def test_trust_ends_with_the_certificate(net: Net) -> None:
    ends = datetime.now(UTC) - NOW + timedelta(seconds=6)
    with serving_tls(serving(issue("leaf", MIDDLE, ends=ends), MIDDLE)) as (_, port):
        before = await check(net, port)
        trusted = net.trust.manner(Endpoint.of(HERE, port, tls=True))
        with suppress(TimeoutError):
            await until_down(net, port)
        after = await check(net, port)

    assert before.status is Status.UP
    assert trusted is not net.trust.strict()
    assert after.error == "tls: certificate expired just now"


async def until_down(net: Net, port: int) -> None:
    for _ in range(200):
        if (await check(net, port)).status is Status.DOWN:
            return
        await asyncio.sleep(0.05)


async def test_who_replays_a_trusted_chain_without_its_key_is_refused(net: Net) -> None:
    """The shorter handshake still checks the signature that only the key's owner can make."""
    context = good()
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # where it can be spoilt on its way
    with serving_tls(context) as (_, port), relay(port) as between:
        before = await check(net, between.port)
        trusted = net.trust.manner(Endpoint.of(HERE, between.port, tls=True))
        between.change = spoil
        after = await check(net, between.port)

    assert before.status is Status.UP
    assert trusted is not net.trust.strict()
    assert after.error == "tls: handshake failed: bad signature"


class Relay:
    """Hands on what *far* says, changed."""

    def __init__(self, far: int) -> None:
        self.port = 0
        self.change: Callable[[bytes], bytes] = bytes
        self._far = far

    def __call__(self, near: socket.socket) -> None:
        with socket.create_connection((HERE, self._far)) as far:
            threading.Thread(target=pump, args=(near, far, bytes), daemon=True).start()
            pump(far, near, self.change)


@contextmanager
def relay(far: int) -> Iterator[Relay]:
    behave = Relay(far)
    with target(behave) as server:
        behave.port = server.port
        yield behave


def pump(source: socket.socket, sink: socket.socket, change: Callable[[bytes], bytes]) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(change(data))


def spoil(data: bytes) -> bytes:
    """Change the end of the message of type 12, ServerKeyExchange: its signature."""
    at = 0
    while at + 9 <= len(data) and data[at] == 22:
        length = int.from_bytes(data[at + 3 : at + 5], "big")
        if data[at + 5] == 12:
            end = at + 4 + length
            return data[:end] + bytes([data[end] ^ 1]) + data[end + 1 :]
        at += 5 + length
    return data


async def test_an_unreadable_certificate_is_told_by_its_verdict_alone(net: Net) -> None:
    """The second handshake, which is to read it, meets a server that is gone."""
    contexts = iter([serving(issue("leaf", MIDDLE, ends=-DAY), MIDDLE)])

    def once(sock: socket.socket) -> None:
        context = next(contexts, None)
        if context is not None:
            targets.secure(context, sock).close()

    with target(once) as server:
        outcome = await check(net, server.port)

    assert outcome.error == "tls: certificate has expired"


async def test_reading_a_bad_certificate_keeps_to_the_deadline(net: Net) -> None:
    contexts = iter([serving(issue("leaf", MIDDLE, ends=-DAY), MIDDLE)])

    def once(sock: socket.socket) -> None:
        context = next(contexts, None)
        if context is None:
            targets.stall(sock)
        else:
            targets.secure(context, sock).close()

    with target(once) as server:
        outcome = await asyncio.wait_for(check(net, server.port, timeout_s=0.4), 2)

    assert outcome.error == "tls: certificate has expired"
    assert outcome.phases.connect_us is not None


async def test_a_large_body_comes_through_both_ways(net: Net) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000
    with target(targets.over_tls(good(), says(answer))) as server:
        outcome = await check(net, server.port, method="POST", body="y" * 2_000_000, max_body_bytes=4_000_000)

    assert (outcome.status, outcome.error) == (Status.UP, "")
