"""rustls changes nothing but the work: what is up, what is down and why stays OpenSSL's word."""

import random
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from probe.checks import CHECKS
from probe.net.connection import Connection
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.net.tls import openssl
from probe.net.tls.openssl import ChainNotVerified, HandshakeMode, TrustedChains
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.nameserver import NameServer, name_server
from tests.probe.net.test_broken_targets_tls import HANDSHAKES, ROWS, Row, good, speaking
from tests.probe.net.test_tls import relay
from tests.probe.net.zoo import HERE, MIDDLE, ROOT, issue, serving
from tests.probe.targets import OK, over_tls, says, target

pytestmark = pytest.mark.races

HOST = "api.example.com"
GOOD = [
    pytest.param(good, id="TLS 1.3"),
    pytest.param(lambda: speaking(ssl.TLSVersion.TLSv1_2), id="TLS 1.2"),
    pytest.param(lambda: keyed(ec.generate_private_key(ec.SECP384R1())), id="a longer key"),
    pytest.param(lambda: keyed(ed25519.Ed25519PrivateKey.generate()), id="an Ed25519 key"),
    pytest.param(lambda: keyed(rsa_key()), id="an RSA key"),
    pytest.param(lambda: serving(issue("leaf", ROOT), ROOT), id="its root sent along"),
]


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    with name_server() as server:
        server.names = {HOST: [HERE], f"a.{HOST}": [HERE], "localhost": [HERE]}
        yield server


@pytest.fixture
async def net(names: NameServer, tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem", nameservers=[names.address])
    net.trust = TrustedChains(tmp_path / "root.pem", rustls=True)
    yield net
    net.close()


async def check(net: Net, port: int, host: str = HERE, timeout_s: float = 5.0, **config: Any) -> Outcome:
    kind = Http(url=f"https://{host}:{port}/", **config)
    return (await run(CHECKS["http"](kind), net, timeout_s)).outcome


def by_rust(net: Net, port: int, host: str = HERE) -> bool:
    """Will rustls shake hands next?"""
    peer = net.trust._peers[host, port]
    return net.trust.manner(Endpoint.of(host, port, tls=True)) is peer.rust


def keyed(key: Any) -> ssl.SSLContext:
    return serving(issue("leaf", MIDDLE, key=key), MIDDLE)


def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65_537, 2048)


def ciphers(names: str, key: Any = None) -> ssl.SSLContext:
    context = keyed(key)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(names)
    return context


@dataclass
class Server:
    """Does what *behave* says at the time."""

    behave: targets.Behaviour

    def __call__(self, sock: socket.socket) -> None:
        self.behave(sock)


def answering(context: ssl.SSLContext) -> targets.Behaviour:
    return over_tls(context, says(OK))


@pytest.mark.parametrize("make", GOOD)
async def test_rustls_shakes_hands_once_openssl_has_verified(
    make: Callable[[], ssl.SSLContext], net: Net
) -> None:
    with target(answering(make())) as server:
        outcomes = [await check(net, server.port) for _ in range(4)]
        still = by_rust(net, server.port)

    assert [(outcome.status, outcome.error, outcome.code) for outcome in outcomes] == [
        (Status.UP, "", 200)
    ] * 4
    assert all(
        (outcome.phases.tls_us or 0) > 0 and outcome.phases.first_byte_us is not None for outcome in outcomes
    )
    assert still
    assert server.accepted == 4


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.has)
async def test_a_certificate_that_turns_bad_is_told_in_the_same_words(row: Row, net: Net) -> None:
    server = Server(answering(serving(issue("leaf", MIDDLE, hosts=[row.host]), MIDDLE)))
    with target(server) as listening:
        before = await check(net, listening.port, row.host)
        used = by_rust(net, listening.port, row.host)
        server.behave = answering(row.make())
        after = [await check(net, listening.port, row.host) for _ in range(2)]

    assert (before.status, used) == (Status.UP, True)
    assert [(outcome.status, outcome.error) for outcome in after] == [(Status.DOWN, row.error)] * 2


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.has)
async def test_rustls_by_itself_refuses_a_certificate_that_has(row: Row, net: Net) -> None:
    with target(answering(good())) as server:
        await check(net, server.port)
        proven = net.trust._peers[HERE, server.port].rust
    assert proven is not None
    with target(answering(row.make())) as server:
        to, limit = Endpoint.of(row.host, server.port, tls=True), Limit.until(time.monotonic() + 5)
        connection = Connection(net, to, PhaseDurations(), limit, manner=HandshakeMode(proven.wrap, None))
        connection.open(HERE)
        with pytest.raises(ChainNotVerified):
            await connection.future


async def test_a_spoilt_handshake_is_done_or_refused(net: Net) -> None:
    chance = random.Random(20_261_121)

    def spoil(data: bytes) -> bytes:
        spoilt = bytearray(data)
        for _ in range(chance.randint(0, 2)):
            spoilt[chance.randrange(len(spoilt))] = chance.choice([0, 1, 255, chance.randrange(256)])
        return bytes(spoilt[: chance.choice([len(data), len(data), chance.randrange(1, len(data) + 1)])])

    refused = 0
    for context in (good(), speaking(ssl.TLSVersion.TLSv1_2)):
        with target(answering(context)) as server, relay(server.port) as between:
            await check(net, between.port)
            proven = net.trust._peers[HERE, between.port].rust
            assert proven is not None
            between.change = spoil
            to = Endpoint.of(HERE, between.port, tls=True)
            for _ in range(40):
                limit = Limit.until(time.monotonic() + 0.2)
                connection = Connection(
                    net, to, PhaseDurations(), limit, manner=HandshakeMode(proven.wrap, None)
                )
                connection.open(HERE)
                try:
                    await connection.future
                except TargetError:
                    refused += 1

    assert 0 < refused < 80


@pytest.mark.parametrize(
    ("behave", "error"), [pytest.param(behave, error, id=does) for does, behave, error in HANDSHAKES]
)
async def test_a_server_that_turns_bad_is_told_in_the_same_words(
    behave: targets.Behaviour, error: str, net: Net
) -> None:
    host = "localhost" if "host" in error else HERE
    server = Server(answering(serving(issue("leaf", MIDDLE, hosts=[host]), MIDDLE)))
    with target(server) as listening:
        before = await check(net, listening.port, host)
        used = by_rust(net, listening.port, host)
        server.behave = behave
        after = await check(net, listening.port, host, 0.5 if "within" in error else 10.0)

    assert (before.status, used) == (Status.UP, True)
    assert (after.status, after.error) == (Status.DOWN, error.format(peer=listening.peer))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: ciphers("ECDHE-ECDSA-AES128-SHA256"), id="CBC"),
        pytest.param(lambda: ciphers("ECDHE-RSA-AES128-SHA256", rsa_key()), id="CBC, RSA"),
    ],
)
async def test_what_rustls_cannot_do_is_left_to_openssl_from_then_on(
    make: Callable[[], ssl.SSLContext], net: Net
) -> None:
    with target(answering(make())) as server:
        outcomes = [await check(net, server.port) for _ in range(3)]
        used = by_rust(net, server.port)

    assert [(outcome.status, outcome.error) for outcome in outcomes] == [(Status.UP, "")] * 3
    assert not used
    assert server.accepted == 4  # the second check met a refusal first


@pytest.mark.parametrize("how", [targets.stall, targets.reset], ids=["ignores", "resets"])
async def test_a_server_that_takes_no_large_hello_is_up(how: targets.Behaviour, net: Net) -> None:
    """rustls offers a key of more than a kilobyte, which some machines on the way can't take."""

    def behave(sock: socket.socket) -> None:
        hello = sock.recv(65_536, socket.MSG_PEEK)
        (how if len(hello) > 1_000 else answering(context))(sock)

    context = good()
    with target(behave) as server:
        outcomes = [await check(net, server.port) for _ in range(3)]

    assert [(outcome.status, outcome.error) for outcome in outcomes] == [(Status.UP, "")] * 3
    assert server.accepted == 4


async def test_a_hello_that_nobody_answers_in_time_is_not_tried_again(net: Net) -> None:
    server = Server(answering(good()))
    with target(server) as listening:
        await check(net, listening.port)
        server.behave = targets.stall
        stalled = await check(net, listening.port, timeout_s=0.3)
        used = by_rust(net, listening.port)

    assert stalled.error == "tls: handshake not done within 0.3 s"
    assert not used


async def test_a_day_after_a_refusal_rustls_is_tried_again(net: Net) -> None:
    with target(answering(ciphers("ECDHE-ECDSA-AES128-SHA256"))) as server:
        for _ in range(2):
            await check(net, server.port)
        peer = net.trust._peers[HERE, server.port]
        assert peer.rust_after > time.monotonic() + 86_000
        peer.rust_after = 0.0  # a day later
        peer.chains.clear()
        await check(net, server.port)
        used = by_rust(net, server.port)

    assert used


async def test_what_need_not_be_verified_is_left_to_openssl(net: Net) -> None:
    with target(answering(serving(issue("leaf")))) as server:
        outcomes = [await check(net, server.port, verify_tls=False) for _ in range(3)]

    assert {outcome.status for outcome in outcomes} == {Status.UP}
    assert server.accepted == 3


async def test_a_server_that_does_not_read_holds_up_nobody(net: Net) -> None:
    unread = Server(answering(good()))
    with target(unread) as stuck, target(answering(good())) as other:
        await check(net, stuck.port)
        await check(net, other.port)
        unread.behave = over_tls(speaking(ssl.TLSVersion.TLSv1_2), targets.stall_unread)
        stalled = net.loop.create_task(
            check(net, stuck.port, timeout_s=1.0, method="POST", body="y" * 8_000_000)
        )
        meanwhile = [await check(net, other.port, timeout_s=0.9) for _ in range(5)]
        outcome = await stalled

    assert {one.status for one in meanwhile} == {Status.UP}
    assert (outcome.status, outcome.error) == (Status.DOWN, "send: not complete within 1.0 s")


async def test_what_comes_ahead_of_a_fault_is_read(net: Net) -> None:
    """A whole answer, then garbage where the end of TLS should be, all in one piece."""
    server = Server(answering(good()))
    with target(server) as listening:
        await check(net, listening.port)
        server.behave = answers_then_garbles
        after = await check(net, listening.port)

    assert (after.status, after.error) == (Status.UP, "")


def answers_then_garbles(sock: socket.socket) -> None:
    context = good()
    coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    wrapped = context.wrap_bio(coming, going, server_side=True)
    while True:
        try:
            wrapped.read(65_536)
            break
        except ssl.SSLWantReadError:
            sock.sendall(going.read())
            coming.write(sock.recv(65_536))
    wrapped.write(OK)
    sock.sendall(going.read() + b"\x17\x03\x03\x00\x20" + b"x" * 32)
    targets.stall(sock)


async def test_an_end_of_tls_ends_the_answer_though_the_connection_stays(net: Net) -> None:
    def behave(sock: socket.socket) -> None:
        with targets.secure(context, sock) as wrapped:
            targets.read_request(wrapped)
            wrapped.sendall(b"HTTP/1.1 200 OK\r\n\r\nall of it")
            wrapped.setblocking(False)
            try:
                wrapped.unwrap()
            except OSError:
                targets.stall_unread(wrapped)

    context = good()
    with target(behave) as server:
        outcomes = [await check(net, server.port, timeout_s=2.0) for _ in range(3)]
        used = by_rust(net, server.port)

    assert [(outcome.status, outcome.error) for outcome in outcomes] == [(Status.UP, "")] * 3
    assert used


async def test_no_descriptor_is_left_behind(net: Net) -> None:
    behaviours = [
        answering(good()), answering(serving(issue("leaf"))), targets.reset,
        answering(ciphers("ECDHE-ECDSA-AES128-SHA256")), targets.sends(OK),
    ]  # fmt: skip
    server = Server(behaviours[0])
    with target(server) as listening:
        await check(net, listening.port)
        before = descriptors()
        for turn in range(40):
            server.behave = behaviours[turn % len(behaviours)]
            await check(net, listening.port, timeout_s=1.0)
            net.trust._peers[HERE, listening.port].rust_after = 0.0
        server.behave = behaviours[0]
        assert (await check(net, listening.port)).status is Status.UP
    after = descriptors()

    assert after <= before + 2  # of the server's threads, which may still be closing


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_without_rustls_the_probe_does_with_openssl(tmp_path: Path) -> None:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    trust = TrustedChains(tmp_path / "root.pem", rustls=False)
    to = Endpoint.of(HERE, 443, tls=True)
    trust._peers[HERE, 443] = peer = openssl._Peer()
    peer.chains[b"proven"] = float("inf")

    assert trust.manner(to) is trust._quick
    assert trust.library == ssl.OPENSSL_VERSION
