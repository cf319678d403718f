"""ICMP and ICMPv6 messages: opening a socket, sending an echo, reading replies and errors."""

import errno
import os
import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from probe.net.errors import ProbeError

# Linux constants that Python does not define.
_SO_TIMESTAMPNS: Final = 35
_SO_RXQ_OVFL: Final = 40
_SO_SNDBUFFORCE: Final = 32
_SO_RCVBUFFORCE: Final = 33
_RECVERR: Final = {
    socket.AF_INET: (socket.IPPROTO_IP, 11),
    socket.AF_INET6: (socket.IPPROTO_IPV6, 25),
}
_SOL_RAW: Final = 255
_ICMP_FILTER: Final = 1
_ICMP6_FILTER: Final = 1
_PROTOCOL: Final = {
    socket.AF_INET: socket.IPPROTO_ICMP,
    socket.AF_INET6: socket.IPPROTO_ICMPV6,
}
_FIRST: Final = {socket.AF_INET: 8, socket.AF_INET6: 128}
ANSWERS: Final = {socket.AF_INET: 0, socket.AF_INET6: 129}
# Holds the answers to all pending echoes while the process is busy.
_BUFFER_BYTES: Final = 8_388_608
_NO_PERMISSION: Final = frozenset({errno.EACCES, errno.EPERM})

# Every echo starts with this, for identification.
MARK_BYTES: Final = 8
HEADER: Final = struct.Struct("!BBHHH4sI")
QUOTED: Final = struct.Struct("!HH")  # number of the socket and of the echo, at 4
_WORDS: Final = struct.Struct("!HH")
_SECONDS: Final = struct.Struct("@ll")
_COUNT: Final = struct.Struct("@I")
_ERROR: Final = struct.Struct("@IBBBBII")
_BY_A_HOST: Final = frozenset({2, 3})  # SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6
_TOO_LARGE: Final = {(2, 3, 4), (3, 2, 0)}

_UNREACHABLE: Final = {
    0: "network unreachable",
    1: "host unreachable",
    2: "protocol unreachable",
    3: "port unreachable",
    5: "source route failed",
    6: "network unknown",
    7: "host unknown",
    9: "network prohibited",
    10: "host prohibited",
    11: "network unreachable for this type of service",
    12: "host unreachable for this type of service",
    13: "prohibited by a filter",
}
_UNREACHABLE_6: Final = {
    0: "no route",
    1: "prohibited by a filter",
    2: "beyond the scope of our address",
    3: "host unreachable",
    4: "port unreachable",
    5: "our address is refused by a policy",
    6: "route rejected",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A network error about an echo: the quoted packet, its destination, and a text."""

    number: int
    quoted: bytes
    to: str
    words: str


def open_socket(family: socket.AddressFamily) -> tuple[socket.socket, bool]:
    """An echo socket, and whether it is a raw one. Raises ProbeError if neither kind is permitted."""
    raw = False
    try:
        sock = _socket(family, socket.SOCK_DGRAM)
    except OSError as error:
        if error.errno not in {*_NO_PERMISSION, errno.EPROTONOSUPPORT}:
            raise _unopened(family, error) from None
        try:
            sock, raw = _socket(family, socket.SOCK_RAW), True
        except OSError as second:
            raise _unopened(family, second) from None
    _set_up(sock, family, raw=raw)
    return sock, raw


def echoes(family: socket.AddressFamily, ident: int, mark: bytes) -> Callable[[int], bytes]:
    """A function that builds requests by number, to be padded with zeros.

    Only raw IPv4 sockets keep number and checksum as they are.
    """
    first, pack = _FIRST[family], HEADER.pack
    same = (first << 8) + ident + sum(_WORDS.unpack(mark))

    def echo(counter: int) -> bytes:
        seq = counter & 0xFFFF
        total = same + seq + (counter >> 16) + seq
        total = (total & 0xFFFF) + (total >> 16)
        return pack(first, 0, ~(total + (total >> 16)) & 0xFFFF, ident, seq, mark, counter)

    return echo


def parse_reply(extras: Sequence[tuple[int, int, bytes]]) -> tuple[int, int]:
    """The kernel's receive time in ns of its wall clock, and its number of dropped packets; 0: unknown."""
    at_ns = dropped = 0
    if len(extras) == 1 and extras[0][1] == _SO_TIMESTAMPNS:
        seconds, ns = _SECONDS.unpack_from(extras[0][2])
        return seconds * 1_000_000_000 + ns, 0
    for _, kind, data in extras:
        if kind == _SO_TIMESTAMPNS:
            seconds, ns = _SECONDS.unpack_from(data)
            at_ns = seconds * 1_000_000_000 + ns
        elif kind == _SO_RXQ_OVFL:
            (dropped,) = _COUNT.unpack_from(data)
    return at_ns, dropped


def fault(sock: socket.socket) -> Fault | None:
    """The next pending error of *sock*, None if there is none; number -1: it names no echo."""
    try:
        quoted, extras, _, to = sock.recvmsg(128, 512, socket.MSG_ERRQUEUE)
    except OSError:
        return None
    for level, kind, data in extras:
        if (level, kind) in _RECVERR.values() and len(quoted) >= 8 and len(data) >= _ERROR.size:
            _, number = QUOTED.unpack_from(quoted, 4)
            words = _told(data)
            return Fault(number if words else -1, quoted, to[0] if to else "", words)
    return Fault(-1, b"", "", "")


def _socket(family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
    return socket.socket(family, kind | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC, _PROTOCOL[family])


def _set_up(sock: socket.socket, family: socket.AddressFamily, *, raw: bool) -> None:
    sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    sock.setsockopt(socket.SOL_SOCKET, _SO_RXQ_OVFL, 1)
    sock.setsockopt(*_RECVERR[family], 1)
    for option, forced in ((socket.SO_RCVBUF, _SO_RCVBUFFORCE), (socket.SO_SNDBUF, _SO_SNDBUFFORCE)):
        sock.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
        with suppress(OSError):  # above the system's limit only with CAP_NET_ADMIN
            sock.setsockopt(socket.SOL_SOCKET, forced, _BUFFER_BYTES)
    if not raw:
        return
    # Without these filters, each ICMP packet of the machine would wake the probe.
    if family == socket.AF_INET:
        sock.setsockopt(_SOL_RAW, _ICMP_FILTER, struct.pack("@I", 0xFFFFFFFF & ~(1 << ANSWERS[family])))
    else:
        words = [0xFFFFFFFF] * 8
        words[ANSWERS[family] >> 5] &= ~(1 << (ANSWERS[family] & 31))
        sock.setsockopt(socket.IPPROTO_ICMPV6, _ICMP6_FILTER, struct.pack("@8I", *words))


def _unopened(family: socket.AddressFamily, error: OSError) -> ProbeError:
    if error.errno in _NO_PERMISSION:
        return ProbeError(
            "probe: not permitted to ping: let sysctl net.ipv4.ping_group_range include its group, "
            "or give it CAP_NET_RAW"
        )
    if error.errno in {errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT}:
        return ProbeError(f"probe: this machine has no IPv{6 if family == socket.AF_INET6 else 4}")
    return ProbeError(f"probe: cannot open a socket for ICMP: {os.strerror(error.errno or 0).lower()}")


def _told(data: bytes) -> str:
    """``host unreachable (from 192.0.2.254)``; empty if it is no network error."""
    code, origin, kind, detail, _, info, _ = _ERROR.unpack_from(data)
    if origin not in _BY_A_HOST:
        return os.strerror(code).lower()
    words = _words(origin, kind, detail, info)
    by = _offender(data[_ERROR.size :])
    return f"{words} (from {by})" if by else words


def _words(origin: int, kind: int, detail: int, mtu: int) -> str:
    if (origin, kind, detail) in _TOO_LARGE:
        return f"packet too large for the way, which takes {mtu} bytes"
    expired = {2: 11, 3: 3}[origin]
    if kind == expired:
        return "too many hops on the way" if detail == 0 else "not put together in time"
    unreachable, names = {2: (3, _UNREACHABLE), 3: (1, _UNREACHABLE_6)}[origin]
    if kind == unreachable:
        return names.get(detail, f"unreachable, code {detail}")
    return f"ICMP error {kind}, code {detail}"


def _offender(address: bytes) -> str:
    family = int.from_bytes(address[:2], "little" if struct.pack("=H", 1)[0] else "big")
    if family == socket.AF_INET and len(address) >= 8:
        return socket.inet_ntop(socket.AF_INET, address[4:8])
    if family == socket.AF_INET6 and len(address) >= 24:
        return socket.inet_ntop(socket.AF_INET6, address[8:24])
    return ""
