"""Does the name system answer as it should?"""

import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv6Address
from typing import Final

from probe.checks._check import Check
from probe.net.dns import message as dns_message
from probe.net.dns.message import DnsAnswer
from probe.net.endpoint import Endpoint, ascii_host
from probe.net.engine import Net
from probe.net.errors import ProbeError, TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.net.stream import connected
from shared.kinds.dns import Dns
from shared.kinds.fields import host_and_port
from shared.results import Outcome, Status

_PORT: Final = 53
_MOST_SHOWN: Final = 3
_MOST_LETTERS: Final = 100


def prepare(kind: Dns) -> Check:
    """Raises ValueError for a name that cannot be queried."""
    if "host" in (faults := kind.faults()):
        raise ValueError(faults["host"])
    name = ascii_host(kind.host).removesuffix(".")
    type_ = dns_message.TYPES[kind.record_type]
    asked = dns_message.question(name, type_)
    expected = [_plain(kind.record_type, text) for text in kind.expected]
    to = None if kind.resolver is None else Endpoint.of(*host_and_port(kind.resolver, _PORT))

    async def check(net: Net, deadline: float) -> Outcome:
        spent, limit = PhaseDurations(), Limit.until(deadline)
        try:
            server = _own(net) if to is None else ((await net.addresses(to, spent, limit))[0], to.port)
            spent.address, spent.port = server
            answer = await _ask(net, server, asked, spent, limit)
            _judge(kind, answer, [record.data for record in answer.records if record.type == type_], expected)
        except TargetError as error:
            error.spent = spent
            raise
        return Outcome(Status.UP, phases=spent.phases(), address=spent.address)

    return check


def _own(net: Net) -> tuple[str, int]:
    servers = net.nameservers()
    if not servers:
        raise ProbeError("probe: it knows no name server")
    return host_and_port(servers[0], _PORT)


async def _ask(
    net: Net, server: tuple[str, int], asked: bytes, spent: PhaseDurations, limit: Limit
) -> DnsAnswer:
    began = time.monotonic()
    message = await net.questions.ask(server, asked, limit)
    spent.first_byte = time.monotonic() - began
    answer = _read(message)
    if answer.truncated:
        answer = _read(await _ask_whole(net, server, asked, spent, limit))
    return answer


async def _ask_whole(
    net: Net, server: tuple[str, int], asked: bytes, spent: PhaseDurations, limit: Limit
) -> bytes:
    """Repeat the query over TCP, for an answer that is too large for a datagram."""
    message = dns_message.query(0, asked)
    to = Endpoint.of(*server)
    async with connected(net, to, spent, limit, addresses=(to.host,)) as stream:
        stream.phase = "dns"
        await stream.send(struct.pack("!H", len(message)) + message)
        size = struct.unpack("!H", await stream.exactly(2))[0]
        answer = await stream.exactly(size)
    if not dns_message.answers(answer, asked):
        raise TargetError("dns: malformed answer")
    return answer


def _read(message: bytes) -> DnsAnswer:
    try:
        return dns_message.read(message)
    except dns_message.MalformedMessage as error:
        raise TargetError(f"dns: malformed answer ({error})") from None


def _judge(kind: Dns, answer: DnsAnswer, found: Sequence[str], expected: Sequence[str]) -> None:
    if answer.rcode != kind.rcode:
        raise TargetError(f"dns: answered {answer.rcode}, expected {kind.rcode}")
    if kind.rcode != "NOERROR":
        return
    if not found:
        raise TargetError(f"dns: no {kind.record_type} record for {kind.host}")
    known = {_plain(kind.record_type, text) for text in found}
    for wanted, text in zip(expected, kind.expected, strict=True):
        if wanted not in known:
            raise TargetError(f"dns: {_short(text)} is not among the answers: {_shown(found)}")


def _plain(type_: str, text: str) -> str:
    """Normalize a record, so that equivalent notations are equal."""
    if type_ == "TXT":
        quoted = len(text) > 1 and text.startswith('"') and text.endswith('"')
        return text[1:-1] if quoted else text
    if type_ == "AAAA":
        with suppress(ValueError):
            return str(IPv6Address(text.strip()))
    words = text.split()
    return " ".join(words if type_ == "CAA" else [word.removesuffix(".").lower() for word in words])


def _shown(found: Sequence[str]) -> str:
    more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    return ", ".join(map(_short, found[:_MOST_SHOWN])) + more


def _short(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else text[:_MOST_LETTERS] + "..."
