"""The dns check: answers of a name server are read and compared, and what is wrong is reported."""

import asyncio
import random
import socket
import struct
from collections.abc import AsyncIterator
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.dns import message as dns_message
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.dns import Dns
from shared.results import Outcome, Status
from tests.probe.net.dns_server import DnsServer, answer, dns_server, gives, name, record
from tests.probe.targets import shut_port

pytestmark = pytest.mark.races

HOST = "www.example.com"
A = record("A", bytes([192, 0, 2, 1]))
SOA = name("ns.example.com") + name("admin.example.com") + struct.pack("!5I", 7, 1, 2, 3, 4)
CAA = b"\x00\x05issue" + b"ca.example"


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    net = Net()
    yield net
    net.close()


async def check(net: Net, server: DnsServer | str, timeout_s: float = 5.0, **config: Any) -> Outcome:
    resolver = server if isinstance(server, str) else server.address
    kind = Dns(**{"host": HOST, "resolver": resolver, **config})
    return (await run(CHECKS["dns"](kind), net, timeout_s)).outcome


@pytest.mark.parametrize(
    ("type_", "data", "expected"),
    [
        ("A", bytes([192, 0, 2, 1]), "192.0.2.1"),
        ("AAAA", bytes(15) + b"\x01", "0:0:0:0:0:0:0:1"),
        ("CNAME", name("Other.example.com"), "other.example.com."),
        ("MX", b"\0\x0a" + name("mail.example.com"), "10 mail.example.com."),
        ("TXT", b"\x06v=spf1\x05 -All", '"v=spf1 -All"'),
        ("NS", b"\x02ns\xc0\x10", "ns.example.com"),
        ("SOA", SOA, "ns.example.com. admin.example.com. 7 1 2 3 4"),
        ("SRV", struct.pack("!3H", 1, 2, 5060) + name("sip.example.com"), "1 2 5060 sip.example.com"),
        ("CAA", CAA, '0 issue "ca.example"'),
    ],
)
async def test_each_type_is_read_as_zone_files_write_it(
    net: Net, type_: str, data: bytes, expected: str
) -> None:
    with dns_server(gives(record(type_, data))) as server:
        good = await check(net, server, record_type=type_, expected=[expected])
        bad = await check(net, server, record_type=type_, expected=[expected + "x"])

    assert (good.status, good.error) == (Status.UP, "")
    assert good.phases.first_byte_us is not None
    assert bad.error.startswith(f"dns: {expected}x is not among the answers: ")


@pytest.mark.parametrize(
    ("respond", "error"),
    [
        pytest.param(gives(flags=0x8183), "dns: answered NXDOMAIN, expected NOERROR", id="no such name"),
        pytest.param(gives(flags=0x8182), "dns: answered SERVFAIL, expected NOERROR", id="server failure"),
        pytest.param(gives(flags=0x8185), "dns: answered REFUSED, expected NOERROR", id="refused"),
        pytest.param(gives(flags=0x8189), "dns: answered code 9, expected NOERROR", id="an odd code"),
        pytest.param(gives(), f"dns: no A record for {HOST}", id="nothing"),
        pytest.param(
            gives(record("CNAME", name("x.example"))), f"dns: no A record for {HOST}", id="only an alias"
        ),
        pytest.param(
            gives(A[:-1]), "dns: malformed answer (a record beyond the end)", id="cut"
        ),
        pytest.param(
            gives(record("A", b"\1\2\3")), "dns: malformed answer (an address of another size)", id="size"
        ),
        pytest.param(
            lambda query: answer(query, b"\xc0\xff" + A[2:]),
            "dns: malformed answer (a pointer forwards)",
            id="a loop of names",
        ),
        pytest.param(
            lambda query: answer(query)[:6] + b"\xff\xff" + answer(query)[8:],
            "dns: malformed answer (too many records)",
            id="count",
        ),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_said(net: Net, respond: Any, error: str) -> None:
    with dns_server(respond) as server:
        outcome = await check(net, server)

    assert (outcome.status, outcome.error) == (Status.DOWN, error)
    assert outcome.address == "127.0.0.1"


@pytest.mark.parametrize(
    "respond",
    [
        pytest.param(lambda _: None, id="silence"),
        pytest.param(lambda _: b"\0", id="too short"),
        pytest.param(lambda query: bytes([query[0] ^ 1]) + answer(query, A)[1:], id="another id"),
        pytest.param(lambda query: query, id="the question back"),
        pytest.param(lambda query: answer(query, A).replace(b"www", b"xxx"), id="another question"),
    ],
)
async def test_what_is_no_answer_is_waited_through(net: Net, respond: Any) -> None:
    with dns_server(respond) as server:
        outcome = await check(net, server, 0.3)

    assert outcome.error == f"dns: no answer from {server.address} within 0.3 s"


async def test_a_lost_datagram_is_sent_again(net: Net) -> None:
    with dns_server(lambda query: answer(query, A) if server.asked > 1 else None) as server:
        outcome = await check(net, server)

    assert (outcome.status, server.asked) == (Status.UP, 2)


async def test_a_port_where_nobody_listens_is_refused(net: Net) -> None:
    with shut_port() as port:
        outcome = await check(net, f"127.0.0.1:{port}")

    assert outcome.error == f"dns: refused by 127.0.0.1:{port}"


async def test_an_expected_error_is_up(net: Net) -> None:
    with dns_server(gives(flags=0x8183)) as server:
        assert (await check(net, server, rcode="NXDOMAIN")).status is Status.UP


async def test_a_truncated_answer_is_asked_for_over_tcp(net: Net) -> None:
    texts = [record("TXT", bytes([250]) + b"x" * 249 + bytes([at])) for at in range(65, 91)]
    with dns_server(gives(flags=0x8380), gives(*texts)) as server:
        outcome = await check(net, server, record_type="TXT", expected=["x" * 249 + "Z"])

    assert (outcome.status, outcome.error) == (Status.UP, "")
    assert outcome.phases.connect_us is not None


@pytest.mark.parametrize(
    ("whole", "error"),
    [
        pytest.param(lambda _: None, "dns: connection closed by {}", id="closed"),
        pytest.param(lambda _: b"", "dns: malformed answer", id="empty"),
        pytest.param(lambda query: answer(query, A)[:20], "dns: malformed answer", id="cut"),
    ],
)
async def test_a_bad_answer_over_tcp_is_said(net: Net, whole: Any, error: str) -> None:
    with dns_server(gives(flags=0x8380), whole) as server:
        outcome = await check(net, server)

    assert outcome.error == error.format(server.address)


async def test_a_guarded_probe_asks_no_resolver_within() -> None:
    net = Net(allow_private=False)
    try:
        with dns_server(gives(A)) as server:
            outcome = await check(net, server)
    finally:
        net.close()

    assert (outcome.status, server.asked) == (Status.DOWN, 0)


async def test_the_probes_own_name_server_is_asked_if_none_is_given() -> None:
    with dns_server(gives(A)) as server:
        net = Net(nameservers=[server.address])
        try:
            outcome = (await run(CHECKS["dns"](Dns(host=HOST)), net, 5.0)).outcome
        finally:
            net.close()

    assert outcome.status is Status.UP


async def test_many_at_once_share_one_socket_and_get_their_own_answers(net: Net) -> None:
    def respond(query: bytes) -> bytes:
        return answer(query, record("A", bytes([192, 0, 2, int(query[13 : 13 + query[12]].decode()[1:])])))

    with dns_server(respond) as server:
        outcomes = await asyncio.gather(
            *(check(net, server, host=f"n{at}.example.com", expected=[f"192.0.2.{at}"]) for at in range(200))
        )

    assert {outcome.error for outcome in outcomes} == {""}


async def test_closing_ends_those_who_wait() -> None:
    net = Net()
    with dns_server(lambda _: None) as server:
        waiting = asyncio.create_task(check(net, server))
        while server.asked == 0:
            await asyncio.sleep(0.01)
        net.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting


def test_no_bytes_at_all_break_the_reader() -> None:
    chance = random.Random(9)
    asked = dns_message.query(1, dns_message.question(HOST, 1))
    samples = [
        answer(asked, A, record("SOA", SOA), record("CAA", CAA), record("NS", b"\x02ns\xc0\x10")),
        answer(asked, record("TXT", b"\x03abc"), record("MX", b"\0\1\xc0\x0c"), record("AAAA", bytes(16))),
    ]
    for _ in range(5_000):
        message = bytearray(chance.choice(samples))
        for _ in range(chance.randrange(1, 6)):
            message[chance.randrange(len(message))] = chance.randrange(256)
        del message[chance.randrange(12, len(message) + 1) :]
        try:
            dns_message.read(bytes(message))
        except dns_message.MalformedMessage:
            continue


@pytest.mark.parametrize("host", ["a" * 64 + ".example", ".".join(["a" * 60] * 5), "a..b"])
def test_a_name_that_cannot_be_asked_for_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="looked up"):
        dns_message.question(host, 1)


@pytest.mark.parametrize("family", [socket.AF_INET6])
async def test_a_server_on_ipv6_is_asked_too(net: Net, family: socket.AddressFamily) -> None:
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.bind(("::1", 0))
        loop = asyncio.get_running_loop()

        def serve() -> None:
            query, client = sock.recvfrom(4096)
            sock.sendto(answer(query, A), client)

        served = loop.run_in_executor(None, serve)
        outcome = await check(net, f"[::1]:{sock.getsockname()[1]}")
        await served

    assert outcome.status is Status.UP
