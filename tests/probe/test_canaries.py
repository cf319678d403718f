"""Canaries: which a machine has, and that each is taken for silent when it is, and only then."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

from probe.net.engine import Net
from probe.net.local import is_own
from probe.schedule.canaries import Canary, ask, finder, usual
from tests.probe.net.nameserver import REFUSED, NameServer

pytestmark = pytest.mark.races

ROUTES = """\
Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
"""
ZERO = "0" * 32
ROUTES_6 = f"""\
{ZERO} 00 {ZERO} 00 fe800000000000000000000000000001 00000400 00000003 00000000 00000003 eth0
{ZERO} 00 {ZERO} 00 {ZERO} ffffffff 00000001 00000000 00200200 lo
"""


def machine(root: Path, resolv: str, *, stub: str = "", routes: str = ROUTES) -> Path:
    files = {
        "etc/resolv.conf": resolv,
        "run/systemd/resolve/resolv.conf": stub,
        "proc/net/route": routes,
        "proc/net/ipv6_route": ROUTES_6,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def answers(canary: Canary) -> bool:
    net = Net()
    try:
        async with asyncio.timeout(5):
            return await ask(canary, net)
    finally:
        net.close()


@contextmanager
def listening() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def test_a_machine_has_its_resolvers_and_its_gateways(tmp_path: Path) -> None:
    resolv = "# by hand\nsearch example.com\nnameserver 192.0.2.53\nnameserver 192.0.2.54\nnameserver no\n"
    found = [str(canary) for canary in usual(machine(tmp_path, resolv))]
    assert found == ["192.0.2.53:53", "192.0.2.54:53", "192.0.2.1", "fe80::1%eth0"]


def test_a_resolver_on_the_machine_itself_is_none_but_those_that_systemds_asks_are(tmp_path: Path) -> None:
    stub = "nameserver 192.0.2.53\n"
    assert "192.0.2.53:53" in map(str, usual(machine(tmp_path, "nameserver 127.0.0.53\n", stub=stub)))
    local = usual(machine(tmp_path, "nameserver 127.0.0.1\nnameserver ::1\n", stub=stub, routes=""))
    assert [canary.kind for canary in local] == ["machine"]


def test_a_machine_of_which_nothing_is_known_has_none(tmp_path: Path) -> None:
    assert usual(tmp_path) == []


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        pytest.param(["none"], [], id="none"),
        pytest.param(["192.0.2.1"], [Canary("machine", "192.0.2.1")], id="an address"),
        pytest.param(["2001:db8::1"], [Canary("machine", "2001:db8::1")], id="an address of IPv6"),
        pytest.param(["example.com:443"], [Canary("port", "example.com", 443)], id="a name and a port"),
        pytest.param(["[2001:db8::1]:53"], [Canary("port", "2001:db8::1", 53)], id="an address and a port"),
    ],
)
def test_those_that_an_operator_names_are_all(texts: list[str], found: list[Canary]) -> None:
    assert finder(texts)() == found


async def test_a_port_answers_when_it_accepts_and_not_when_it_refuses() -> None:
    with listening() as port:
        assert await answers(Canary("port", "127.0.0.1", port))
        assert await answers(Canary("port", "localhost", port))
    assert not await answers(Canary("port", "127.0.0.1", port))


@pytest.mark.parametrize(
    "canary",
    [
        pytest.param(Canary("port", "no-such-host.invalid", 80), id="a name that is none"),
        pytest.param(Canary("machine", "fe80::1%nowhere"), id="a zone that is none"),
    ],
)
async def test_what_is_not_there_does_not_answer(canary: Canary) -> None:
    assert not await answers(canary)


async def test_a_resolver_answers_whatever_it_has_to_say() -> None:
    server = NameServer()
    host, _, port = server.address.partition(":")
    canary = Canary("resolver", host, int(port))
    try:
        assert not await answers(canary)  # as yet it knows nothing, and is silent
        server.names[""] = REFUSED
        assert await answers(canary)
        server.spoil = lambda answer: b"\0\0" + answer[2:]
        assert not await answers(canary)
    finally:
        server.stop()


async def test_one_lost_packet_is_no_silence() -> None:
    server = NameServer()
    server.names[""] = REFUSED
    lost: list[bytes] = []

    def lose_the_first(answer: bytes) -> bytes:
        lost.append(answer)
        return answer if len(lost) > 1 else b""

    server.spoil = lose_the_first
    host, _, port = server.address.partition(":")
    try:
        assert await answers(Canary("resolver", host, int(port)))
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("address", "own"),
    [
        pytest.param("127.0.0.1", True, id="loopback"),
        pytest.param("127.9.9.9", True, id="another of loopback"),
        pytest.param("::1", True, id="loopback of IPv6"),
        pytest.param("::ffff:127.0.0.1", True, id="IPv4 written as IPv6"),
        pytest.param("0.0.0.0", True, id="unspecified, which leads here"),
        pytest.param("192.0.2.200", False, id="some other machine"),
        pytest.param("2001:db8::1", False, id="some other machine of IPv6"),
        pytest.param("240.0.0.1", False, id="nowhere"),
        pytest.param("example.com", False, id="a name"),
    ],
)
def test_which_addresses_are_this_machines_own(address: str, own: bool) -> None:
    assert is_own(address) is own


def test_every_address_of_its_cards_is_this_machines_own() -> None:
    cards = [address for card in psutil.net_if_addrs().values() for address in card]
    own = [card.address for card in cards if card.family in (socket.AF_INET, socket.AF_INET6)]
    assert own
    assert [address for address in own if not is_own(address)] == []
