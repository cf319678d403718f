"""A network namespace whose every packet comes to this process, which answers as hosts and routers would."""

import asyncio
import ctypes
import ipaddress
import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.probe.wire import _tun

ROUTER = {4: "10.77.0.254", 6: "fd00:77::fe"}
OWN = {4: "10.77.0.253", 6: "fd00:77::fd"}
_CLONE_NEWNET = 0x40000000
_TENTATIVE = 0x40
_LIBC = ctypes.CDLL(None, use_errno=True)
_HEADER = {4: 20, 6: 40}
_ICMP = {4: 1, 6: 58}
REPLY = {4: 0, 6: 129}

Answer = tuple[float, bytes]


@dataclass(frozen=True, slots=True)
class Echo:
    """A request that came by, as bytes; *version* of IP."""

    packet: bytes
    version: int

    @property
    def to(self) -> bytes:
        return self.packet[16:20] if self.version == 4 else self.packet[24:40]

    @property
    def host(self) -> int:
        return self.to[-1]

    @property
    def message(self) -> bytes:
        return self.packet[_HEADER[self.version] :]

    @property
    def own(self) -> bytes:
        return self.packet[12:16] if self.version == 4 else self.packet[8:24]

    def reply(self, *, kind: int | None = None, message: bytes | None = None) -> bytes:
        """The answer of the host itself, in which *message* stands after the checksum."""
        rest = self.message[4:] if message is None else message
        return self._packet(self.to, bytes([REPLY[self.version] if kind is None else kind, 0]), rest)

    def error(self, kind: int, code: int, *, info: int = 0, quoted: bytes | None = None) -> bytes:
        """What a router says of it; it quotes as little as it may."""
        by = socket.inet_pton(socket.AF_INET if self.version == 4 else socket.AF_INET6, ROUTER[self.version])
        quote = self.packet[: _HEADER[self.version] + 8] if quoted is None else quoted
        return self._packet(by, bytes([kind, code]), struct.pack("!I", info) + quote)

    def _packet(self, by: bytes, kind: bytes, rest: bytes) -> bytes:
        message = kind + b"\0\0" + rest
        if self.version == 4:
            total = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(message), 1, 0, 64, 1, 0) + by + self.own
            head = total[:10] + checksum(total) + total[12:]
            return head + message[:2] + checksum(message) + message[4:]
        pseudo = by + self.own + struct.pack("!II", len(message), 58)
        head = struct.pack("!IHBB", 6 << 28, len(message), 58, 64) + by + self.own
        return head + message[:2] + checksum(pseudo + message) + message[4:]


def checksum(data: bytes) -> bytes:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!H", ~total & 0xFFFF)


@dataclass(slots=True)
class Router:
    """Every echo goes to *behave*, which says what comes back, each after so many seconds."""

    end: int
    behave: Callable[[Echo], Sequence[Answer]]
    seen: list[Echo] = field(default_factory=list)

    def start(self) -> None:
        asyncio.get_running_loop().add_reader(self.end, self._take)

    def stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self.end)

    def _take(self) -> None:
        while True:
            try:
                packet = os.read(self.end, 65_536)
            except BlockingIOError:
                return
            echo = Echo(packet, packet[0] >> 4)
            protocol = packet[9] if echo.version == 4 else packet[6]
            if protocol == _ICMP[echo.version] and echo.message[0] in {8, 128}:
                self.seen.append(echo)
                for delay_s, answer in self.behave(echo):
                    asyncio.get_running_loop().call_later(delay_s, os.write, self.end, answer)


@contextmanager
def within(*, datagrams: bool) -> Iterator[int]:
    """This thread in a namespace of its own, and the TUN to all of it; *datagrams*: pings for everybody."""
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    assert _LIBC.unshare(_CLONE_NEWNET) == 0
    try:
        group_range = "0 2147483647" if datagrams else "1 0"
        Path("/proc/sys/net/ipv4/ping_group_range").write_text(group_range)
        end = _tun("tocsin")
        try:
            for words in (
                ["addr", "add", f"{OWN[4]}/24", "dev", "tocsin"],
                ["-6", "addr", "add", f"{OWN[6]}/64", "dev", "tocsin", "nodad"],
                ["link", "set", "tocsin", "up"],
                ["link", "set", "lo", "up"],
            ):
                subprocess.run(["ip", *words], check=True)
            while _tentative():
                time.sleep(0.005)
            yield end
        finally:
            os.close(end)
    finally:
        assert _LIBC.setns(own, _CLONE_NEWNET) == 0
        os.close(own)


def _tentative() -> bool:
    """Is an address of IPv6 not taken into use yet? What comes for it is dropped."""
    lines = Path("/proc/thread-self/net/if_inet6").read_text().splitlines()
    return any(int(flags, 16) & _TENTATIVE for *_, flags, _ in map(str.split, lines))


def address(host: int, version: int) -> str:
    """``10.77.0.3`` or ``fd00:77::3``."""
    base = ipaddress.ip_address("10.77.0.0" if version == 4 else "fd00:77::")
    return str(base + host)
