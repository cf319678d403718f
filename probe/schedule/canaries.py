"""Canaries: targets by which a probe knows whether it has connectivity."""

import asyncio
import ipaddress
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes
from typing import Final, Literal

from probe.net.endpoint import Endpoint, show
from probe.net.engine import Net
from probe.net.errors import ProbeError, TargetError
from probe.net.local import is_own
from probe.net.spent import Limit, PhaseDurations
from shared.setting_table import NO_CANARY, address

# The timeout of a canary, which is asked several times because packets get lost.
PATIENCE_S: Final = 1.0
_TRIES: Final = 3
_APART_S: Final = 0.25
_MOST_RESOLVERS: Final = 3
_DNS: Final = 53
# If echoes are not permitted: some port of a machine answers, possibly with a refusal.
_LIKELY_PORTS: Final = (53, 80)
# The root's SOA record: small, and in every resolver's cache.
_QUESTION: Final = b"\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x06\x00\x01"
_ECHO: Final = {socket.AF_INET: (8, 0), socket.AF_INET6: (128, 129)}
_ICMP: Final = {socket.AF_INET: socket.IPPROTO_ICMP, socket.AF_INET6: socket.IPPROTO_ICMPV6}
_STUB: Final = "127.0.0.53"
_GATEWAY: Final = 0x2
_ENOUGH: Final = 2048


@dataclass(frozen=True, slots=True)
class Canary:
    """A *resolver* answers a question, a *machine* an echo; at a *port* a server listens."""

    kind: Literal["resolver", "machine", "port"]
    host: str
    port: int = 0

    def __str__(self) -> str:
        return show(self.host, self.port) if self.port else self.host


def finder(texts: Sequence[str] | None) -> Callable[[], list[Canary]]:
    """A function that returns the canaries: configured ones, else those of the machine's current setup."""
    if texts is None:
        return usual
    named = given(texts)
    return lambda: named


def given(texts: Sequence[str]) -> list[Canary]:
    """Parse addresses, or hosts with ports; ``none`` means no canaries."""
    canaries = []
    for text in texts:
        if text == NO_CANARY:
            return []
        try:
            canaries.append(Canary("machine", str(ipaddress.ip_address(text))))
        except ValueError:
            canaries.append(Canary("port", *address(text)))
    return canaries


def usual(root: Path = Path("/")) -> list[Canary]:
    """The machine's current resolvers and default gateways, except the machine itself."""
    resolvers = [Canary("resolver", host, _DNS) for host in _resolvers(root)]
    gateways = [Canary("machine", host) for host in dict.fromkeys(_gateways(root))]
    return [canary for canary in [*resolvers, *gateways] if not is_own(canary.host)]


async def ask(canary: Canary, net: Net) -> bool:
    """Whether it answers within PATIENCE_S."""
    heard = asyncio.Event()

    async def once(delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        with suppress(OSError, TargetError, ProbeError):
            if await _try(canary, net):
                heard.set()

    tries = [asyncio.create_task(once(number * _APART_S)) for number in range(_TRIES)]
    try:
        async with asyncio.timeout(PATIENCE_S):
            await heard.wait()
    except TimeoutError:
        return False
    finally:
        for task in tries:
            task.cancel()
        await asyncio.gather(*tries, return_exceptions=True)
    return True


async def _try(canary: Canary, net: Net) -> bool:
    if canary.kind == "port":
        began = time.monotonic()
        limit = Limit(began, began + PATIENCE_S)
        await net.converse(Endpoint.of(canary.host, canary.port), PhaseDurations(), limit)
        return True
    if canary.kind == "resolver":
        return await _resolves(canary)
    return await _echoes(canary.host)


async def _resolves(canary: Canary) -> bool:
    with _socket(canary.host, socket.SOCK_DGRAM) as sock:
        sock.connect(_name(canary.host, canary.port))
        number = token_bytes(2)
        return await _hears(
            sock, number + _QUESTION, lambda data: data[:2] == number and data[2:3] >= b"\x80"
        )


async def _echoes(host: str) -> bool:
    """Whether it answers an echo or, where the system does not permit echoes, on one of its ports."""
    family = _family(host)
    try:
        sock = _socket(host, socket.SOCK_DGRAM, _ICMP[family])
    except PermissionError:
        return await _has_ports(host)
    asked, answered = _ECHO[family]
    mark = token_bytes(16)
    with sock:
        sock.connect(_name(host, 0))
        words = struct.pack("!BBHHH", asked, 0, 0, 0, 1) + mark  # the kernel adds number and checksum
        return await _hears(sock, words, lambda data: data[:1] == bytes([answered]) and data[8:] == mark)


async def _has_ports(host: str) -> bool:
    answers = await asyncio.gather(*(_has_port(host, port) for port in _LIKELY_PORTS), return_exceptions=True)
    return any(answer is True for answer in answers)


async def _has_port(host: str, port: int) -> bool:
    with _socket(host, socket.SOCK_STREAM) as sock:
        try:
            await asyncio.get_running_loop().sock_connect(sock, _name(host, port))
        except ConnectionRefusedError:
            return not is_own(host)
    return True


async def _hears(sock: socket.socket, words: bytes, is_answer: Callable[[bytes], bool]) -> bool:
    loop = asyncio.get_running_loop()
    sock.send(words)
    while not is_answer(await loop.sock_recv(sock, _ENOUGH)):
        pass
    return True


def _socket(host: str, kind: int, protocol: int = 0) -> socket.socket:
    return socket.socket(_family(host), kind | socket.SOCK_NONBLOCK, protocol)


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _name(host: str, port: int) -> tuple[str, int] | tuple[str, int, int, int]:
    """A socket address; uvloop does not resolve one whose zone is numeric."""
    bare, _, zone = host.partition("%")
    if ":" not in host:
        return host, port
    return bare, port, 0, socket.if_nametoindex(zone) if zone else 0


def _resolvers(root: Path) -> list[str]:
    named = _nameservers(root / "etc/resolv.conf")
    if _STUB in named:  # systemd's own, which queries these
        named = _nameservers(root / "run/systemd/resolve/resolv.conf")
    return named[:_MOST_RESOLVERS]


def _nameservers(path: Path) -> list[str]:
    lines = [line.split() for line in _lines(path)]
    named = [words[1] for words in lines if len(words) > 1 and words[0] == "nameserver"]
    return [host for host in dict.fromkeys(named) if _is_address(host)]


def _gateways(root: Path) -> Iterator[str]:
    for words in map(str.split, _lines(root / "proc/net/route")[1:]):
        if len(words) > 7 and words[1] == words[7] == "00000000" and int(words[3], 16) & _GATEWAY:
            yield socket.inet_ntoa(struct.pack("=L", int(words[2], 16)))
    for words in map(str.split, _lines(root / "proc/net/ipv6_route")):
        if len(words) > 9 and words[1] == "00" and int(words[8], 16) & _GATEWAY:
            host = socket.inet_ntop(socket.AF_INET6, bytes.fromhex(words[4]))
            yield f"{host}%{words[9]}" if host.startswith("fe80:") else host


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []
