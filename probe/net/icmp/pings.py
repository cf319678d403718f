"""Pings: one socket for each address family, shared by all checks, timed by the kernel."""

import errno
import os
import socket
import time
from asyncio import Future
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import TYPE_CHECKING, Final

from probe.net import faults
from probe.net.endpoint import Endpoint
from probe.net.errors import ProbeError, TargetError
from probe.net.icmp.echo_socket import EchoLine
from probe.net.spent import Limit, PhaseDurations

if TYPE_CHECKING:
    from probe.net.engine import Net

# The next echo waits at most this long for the previous answer.
_APART_S: Final = 1.0
# An echo without an answer this long after the others is lost.
_LATEST_S: Final = 1.0
_NO_ROOM_S: Final = 0.02
_MAPPED: Final = "::ffff:"
_NO_WAY: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EAFNOSUPPORT, errno.EINVAL})


# Not frozen: that would cost half a microsecond a field, and each check makes one.
@dataclass(slots=True)
class Heard:
    """The number of echoes *sent*, the answers' durations, and the network's errors for the rest."""

    address: str
    sent: int
    rtts_ns: Sequence[int]
    fault: str


class EchoSockets:
    """Opens a socket per address family on first use, and again after it broke."""

    __slots__ = ("_lines", "_net")

    def __init__(self, net: "Net") -> None:
        self._net = net
        self._lines: dict[socket.AddressFamily, EchoLine] = {}

    async def ping(
        self, to: Endpoint, spent: PhaseDurations, limit: Limit, count: int, padding: bytes
    ) -> Heard:
        """Send *count* echoes, each with *padding* after its first eight bytes.

        Raises TargetError if *to* has no address, ProbeError if nothing can be sent from here.
        """
        target_error: TargetError | None = None
        net = self._net
        for found in net.literal(to) if to.literal else await net.addresses(to, spent, limit):
            spent.address = address = _unmapped(found)
            pinging = _CheckEchoes(self._line(address), address, limit, count, padding)
            try:
                return await pinging.run()
            except TargetError as error:
                target_error = target_error or error
        assert target_error is not None  # noqa: S101 - there is an address, or `addresses` raises
        raise target_error

    def _line(self, address: str) -> EchoLine:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        line = self._lines.get(family)
        if line is None or line.closed:
            line = self._lines[family] = EchoLine(self._net, family)
        return line


class _CheckEchoes:
    """The echoes of one check: each is sent when the previous one is answered, or late."""

    __slots__ = (
        "_apart_s", "_count", "_dropped", "_failed", "_fault", "_limit", "_line", "_numbers", "_padding",
        "_rtts", "_wake", "address", "due", "future",
    )  # fmt: skip

    def __init__(self, line: EchoLine, address: str, limit: Limit, count: int, padding: bytes) -> None:
        self.future: Future[None] = line.net.loop.create_future()
        self.address = address
        self.due = 0.0
        self._line = line
        self._limit = limit
        self._count = count
        self._apart_s = min(_APART_S, (limit.deadline - limit.began) / count)
        self._padding = padding
        self._rtts: list[int] = []
        self._numbers: list[int] = []
        self._failed = 0
        self._fault = ""
        self._dropped = line.dropped
        self._wake = 0.0

    async def run(self) -> Heard:
        deadlines = self._line.net.deadlines
        try:
            self._send()
            self.due = self._wake
            deadlines.add(self, self._wake)
            await self.future
        finally:
            deadlines.remove(self)
            self._forget()
        if len(self._rtts) + self._failed < len(self._numbers) and self._line.dropped != self._dropped:
            raise ProbeError("probe: too busy to take in all answers to pings")
        if not self._numbers:
            raise ProbeError("probe: out of socket buffers")
        return Heard(self.address, len(self._numbers), self._rtts, self._fault)

    def answered(self, took_ns: int) -> None:
        self._rtts.append(took_ns)
        if len(self._numbers) < self._count:
            self._go_on()
        elif len(self._rtts) + self._failed >= self._count:
            self._end()
        elif len(self._rtts) == 1:
            self._wait_until(min(self._limit.deadline, time.monotonic() + self._patience_s()))

    def failed(self, words: str) -> None:
        """The network reports that an echo did not arrive."""
        self._failed += 1
        self._fault = words
        if len(self._rtts) + self._failed >= self._count:
            self._end()

    def expire(self) -> None:
        """The last echo's time is over, unless its answer waits to be read."""
        self._line.on_events()
        now = time.monotonic()
        if self.future.done():
            return
        if now < self._wake:
            self._line.net.deadlines.add(self, self._wake)
        elif now >= self._limit.deadline or len(self._numbers) >= self._count:
            self._end()
        else:
            self._go_on()
            if not self.future.done():
                self._line.net.deadlines.add(self, self._wake)

    def _go_on(self) -> None:
        try:
            self._send()
        except (TargetError, ProbeError) as error:
            if not self.future.done():
                self.future.set_exception(error)

    def _send(self) -> None:
        now = time.monotonic()
        try:
            self._numbers.append(self._line.send(self, self._padding))
        except BlockingIOError:
            self._wait_until(min(now + _NO_ROOM_S, self._limit.deadline))
            return
        except OSError as error:
            raise _unsent(error.errno or 0, self.address) from None
        if len(self._numbers) < self._count:
            self._wait_until(min(now + self._apart_s, self._limit.deadline))
        elif self._rtts:
            self._wait_until(min(now + self._patience_s(), self._limit.deadline))
        else:
            self._wait_until(self._limit.deadline)

    def _patience_s(self) -> float:
        return max(_LATEST_S, 2e-9 * max(self._rtts))

    def _wait_until(self, wake: float) -> None:
        """Only move the deadline forward; `expire` handles later ones, since mostly an answer comes first."""
        self._wake = wake
        if wake < self.due:
            self._line.net.deadlines.remove(self)
            self._line.net.deadlines.add(self, wake)

    def _end(self) -> None:
        if not self.future.done():
            self.future.set_result(None)

    def _forget(self) -> None:
        if len(self._rtts) + self._failed < len(self._numbers):
            for number in self._numbers:
                known = self._line.waiting.get(number)
                if known is not None and known[0] is self:
                    del self._line.waiting[number]


def _unmapped(address: str) -> str:
    """Convert an IPv4-mapped IPv6 address: ICMPv6 cannot reach it."""
    if not address.startswith(_MAPPED):
        return address
    return str(IPv6Address(address).ipv4_mapped or address)


def _unsent(code: int, address: str) -> TargetError | ProbeError:
    if code in _NO_WAY:
        return TargetError(f"icmp: no route to {address}")
    if code == errno.EACCES:
        return TargetError(
            f"icmp: not permitted to {address}: a broadcast address, or a route that prohibits it"
        )
    if code == errno.EMSGSIZE:
        return TargetError(f"icmp: packet too large for the way to {address}")
    error = faults.unconnected(code, address)
    return (
        error
        if isinstance(error, ProbeError)
        else TargetError(f"icmp: {os.strerror(code).lower()} ({address})")
    )
