"""What the probe says of names that lead nowhere and ports that let nobody in."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.nameserver import NXDOMAIN, REFUSED, SERVFAIL, name_server
from tests.probe.targets import mute_port, shut_port

HOST = "api.example.com"
FORMERR, NOTIMP = 1, 4
METADATA = "{} is a cloud metadata address, which is never allowed"
FORBIDDEN = "which is not allowed here"


def nonsense(answer: bytes) -> bytes:
    return answer[:12] + b"\xff" * 40


@dataclass(frozen=True)
class Name:
    """*answer* is what the name server says of HOST: addresses, an error, or None for nothing at all."""

    does: str
    answer: list[str] | int | None
    error: str
    config: dict[str, str] = field(default_factory=dict)
    allow_private: bool = True
    spoil: Callable[[bytes], bytes] = bytes


NAMES = [
    Name("does not exist", NXDOMAIN, f"dns: no such host {HOST}"),
    Name("fails", SERVFAIL, f"dns: server failure for {HOST}"),
    Name("is refused", REFUSED, f"dns: query refused for {HOST}"),
    Name("is not understood", FORMERR, f"dns: query not understood for {HOST}"),
    Name("is not supported", NOTIMP, f"dns: query not supported for {HOST}"),
    Name("has no address", [], f"dns: no address for {HOST}"),
    Name("has no IPv4 address", ["::1"], f"dns: no IPv4 address for {HOST}", {"ip_version": "4"}),
    Name("has no IPv6 address", ["127.0.0.1"], f"dns: no IPv6 address for {HOST}", {"ip_version": "6"}),
    Name("is never answered", None, f"dns: no answer for {HOST} within 0.5 s"),
    Name("is answered with nonsense", ["127.0.0.1"], f"dns: malformed answer for {HOST}", spoil=nonsense),
    Name("is the metadata", ["169.254.169.254"], "connect: " + METADATA.format("169.254.169.254")),
    Name("is the metadata in IPv6", ["fd00:ec2::254"], "connect: " + METADATA.format("fd00:ec2::254")),
    Name(
        "is the metadata, mapped",
        ["::ffff:169.254.169.254"],
        "connect: " + METADATA.format("::ffff:169.254.169.254"),
    ),
    Name(
        "is at home",
        ["127.0.0.1"],
        f"connect: 127.0.0.1 is a loopback address, {FORBIDDEN}",
        allow_private=False,
    ),
    Name(
        "is in a private network",
        ["10.1.2.3"],
        f"connect: 10.1.2.3 is a private address, {FORBIDDEN}",
        allow_private=False,
    ),
    Name(
        "is nowhere",
        ["0.0.0.0"],
        f"connect: 0.0.0.0 is an unspecified address, {FORBIDDEN}",
        allow_private=False,
    ),
]


@pytest.mark.parametrize("row", NAMES, ids=lambda row: row.does)
async def test_says_what_is_wrong_with_a_name_that(row: Name) -> None:
    with name_server() as names:
        if row.answer is not None:
            names.names[HOST] = row.answer
        names.spoil = row.spoil
        net = Net(nameservers=[names.address], allow_private=row.allow_private)
        check = CHECKS["http"](Http(url=f"http://{HOST}/", **row.config))  # type: ignore[arg-type]
        outcome = (await run(check, net, 0.5)).outcome
        net.close()

    assert (outcome.status, outcome.error) == (Status.DOWN, row.error)
    assert (outcome.phases.dns_us is None) == (row.answer is None)


@dataclass(frozen=True)
class Port:
    """*shut* and *mute* are addresses where the port is so; HOST has all of *addresses*."""

    does: str
    addresses: list[str]
    error: str
    mute: tuple[str, ...] = ()


SHUT, SHUT_TOO, MUTE, MUTE_TOO = "127.0.0.1", "127.0.0.2", "127.0.0.8", "127.0.0.9"
PORTS = [
    Port("refuses", [SHUT], f"connect: refused by {SHUT}:%d"),
    Port("refuses over IPv6", ["::1"], "connect: refused by [::1]:%d"),
    Port("lets nobody in", [MUTE], f"connect: timed out after 0.5 s to {MUTE}:%d", (MUTE,)),
    Port("lets nobody in over IPv6", ["::1"], "connect: timed out after 0.5 s to [::1]:%d", ("::1",)),
    Port(
        "refuses at one address, lets nobody in at another",
        [SHUT, MUTE],
        f"connect: refused by {SHUT}:%d",
        (MUTE,),
    ),
]


@contextmanager
def port_of(row: Port) -> Iterator[int]:
    with shut_port() as port, ExitStack() as stack:
        for address in row.mute:
            stack.enter_context(mute_port(address, port))
        yield port


@pytest.mark.parametrize("row", PORTS, ids=lambda row: row.does)
@pytest.mark.parametrize("kind", ["tcp", "http"])
async def test_says_what_is_wrong_with_a_port_that(row: Port, kind: str) -> None:
    with name_server() as names, port_of(row) as port:
        names.names[HOST] = row.addresses
        net = Net(nameservers=[names.address])
        config = Tcp(host=HOST, port=port) if kind == "tcp" else Http(url=f"http://{HOST}:{port}/")
        outcome = (await run(CHECKS[kind](config), net, 0.5)).outcome
        net.close()

    assert (outcome.status, outcome.error) == (Status.DOWN, row.error % port)
    assert outcome.phases.connect_us is None


async def check(host: str, **config: str) -> Outcome:
    net = Net(nameservers=["127.0.0.1:1"])
    kind = Http(url=f"http://{host}/", **config)  # type: ignore[arg-type]
    outcome = (await run(CHECKS["http"](kind), net, 2.0)).outcome
    net.close()
    return outcome


@pytest.mark.parametrize(
    ("host", "config", "error"),
    [
        (HOST, {}, f"dns: name servers cannot be reached for {HOST}"),
        ("127.0.0.1", {"ip_version": "6"}, "dns: 127.0.0.1 is no IPv6 address"),
        ("[::1]", {"ip_version": "4"}, "dns: ::1 is no IPv4 address"),
        ("[fe80::1%none]", {}, "connect: no such zone ([fe80::1%none]:80)"),
        ("[fd00:ec2::254]", {}, "connect: " + METADATA.format("fd00:ec2::254")),
        ("[64:ff9b::a9fe:a9fe]", {}, "connect: " + METADATA.format("64:ff9b::a9fe:a9fe")),
    ],
)
async def test_says_what_is_wrong_with_an_address(host: str, config: dict[str, str], error: str) -> None:
    outcome = await check(host, **config)

    assert (outcome.status, outcome.error) == (Status.DOWN, error)


async def test_a_machine_out_of_descriptors_says_so() -> None:
    net = Net()
    with targets.no_more_descriptors():
        ran = await run(CHECKS["tcp"](Tcp(host="127.0.0.1", port=1)), net, 1.0)
    net.close()

    assert (ran.outcome.status, ran.outcome.error) == (Status.UNKNOWN, "probe: out of file descriptors")
