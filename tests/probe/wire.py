"""A wire between this machine and a network namespace that loses, delays or is cut, as a test says.

The kernel's own netem may be missing; so each end is a TUN device, and this process carries the packets.
"""

import asyncio
import ctypes
import fcntl
import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADER = 0x1001
_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)


def demand() -> None:
    """Skip, by name, where there can be no namespaces."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces: not root")
    if shutil.which("ip") is None:
        pytest.skip("network namespaces: ip is not installed")
    if not Path("/dev/net/tun").exists():
        pytest.skip("network namespaces: /dev/net/tun is missing")
    if subprocess.run(["ip", "netns", "list"], capture_output=True, check=False).returncode:
        pytest.skip("network namespaces: ip netns does not work here")


class Wire:
    """*here* and *there* are the addresses of its ends; *delay_s* is one way, *loss* a share of packets."""

    def __init__(self, namespace: str, here: str, there: str, ends: tuple[int, int]) -> None:
        self.namespace = namespace
        self.here = here
        self.there = there
        self.delay_s = 0.0
        self.loss = 0.0
        self.cut = False
        self._chance = random.Random(1)
        self._ends = ends

    def start(self) -> None:
        for end, other in (self._ends, self._ends[::-1]):
            asyncio.get_running_loop().add_reader(end, self._carry, end, other)

    def stop(self) -> None:
        for end in self._ends:
            asyncio.get_running_loop().remove_reader(end)

    def _carry(self, end: int, other: int) -> None:
        try:
            packet = os.read(end, 65_536)
        except BlockingIOError:
            return
        if self.cut or self._chance.random() < self.loss:
            return
        if self.delay_s:
            asyncio.get_running_loop().call_later(self.delay_s, _put, other, packet)
        else:
            _put(other, packet)


@contextmanager
def laid(nth: int = 0) -> Iterator[Wire]:
    """A new namespace with a wire to it; both go with the test. *nth*: of a process's."""
    mark = os.getpid() % 60_000
    namespace, name = f"tocsin{mark}n{nth}", f"tcs{mark}n{nth}"
    here, there = (
        f"10.{200 + nth * 4 + mark // 16_384}.{mark // 64 % 256}.{mark % 64 * 4 + end}" for end in (1, 2)
    )
    subprocess.run(["ip", "netns", "add", namespace], check=True)
    ends: list[int] = []
    try:
        ends = [_tun(name), _tun_within(namespace, name)]
        _ip("addr", "add", f"{here}/30", "dev", name)
        _ip("link", "set", name, "up")
        for words in (["addr", "add", f"{there}/30", "dev", name], ["link", "set", name, "up"]):
            _ip("-n", namespace, *words)
        _ip("-n", namespace, "link", "set", "lo", "up")
        yield Wire(namespace, here, there, (ends[0], ends[1]))
    finally:
        for end in ends:
            os.close(end)
        subprocess.run(["ip", "netns", "del", namespace], check=True)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _tun(name: str) -> int:
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(end, _TUNSETIFF, struct.pack("16sH", name.encode(), _TUN_WITHOUT_HEADER))
    return end


def _tun_within(namespace: str, name: str) -> int:
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/var/run/netns/{namespace}", os.O_RDONLY)
    try:
        assert _LIBC.setns(there, _CLONE_NEWNET) == 0
        try:
            return _tun(name)
        finally:
            assert _LIBC.setns(own, _CLONE_NEWNET) == 0
    finally:
        os.close(own)
        os.close(there)


def _put(end: int, packet: bytes) -> None:
    try:
        os.write(end, packet)
    except OSError:
        return
