"""An ICMP socket that many checks share: matches replies and errors to echoes, with times."""

import secrets
import socket
import time
from asyncio import Future
from collections.abc import Sequence
from select import EPOLLIN
from typing import TYPE_CHECKING, Final, Protocol

from probe.net.icmp.wire import ANSWERS, HEADER, Fault, echoes, fault, open_socket, parse_reply

if TYPE_CHECKING:
    from probe.net.engine import Net

Extras = Sequence[tuple[int, int, bytes]]

# Offsets of identifier and number in an echo.
_IDENT: Final = 4
_NUMBER: Final = 6
# After this many answers, other tasks may run.
_MOST_READS: Final = 128
_READ_BYTES: Final = 128
_EXTRA_BYTES: Final = socket.CMSG_SPACE(16) + socket.CMSG_SPACE(4)
_MOST_WAITING: Final = 60_000
_MOST_TRIES: Final = 3
# The wall clock does not drift further than this without being set.
_STEP_NS: Final = 1_000_000
# Two clocks read further apart are not simultaneous.
_APART_NS: Final = 200_000
# How long the distance between the clocks is used: they drift by less than 5 microseconds meanwhile.
_COMPARED_NS: Final = 10_000_000


class Pinging(Protocol):
    """Sends echoes to *address* and receives their results."""

    address: str
    future: Future[None]

    def answered(self, took_ns: int) -> None: ...

    def failed(self, words: str) -> None: ...


class EchoLine:
    """A socket, with the unanswered echoes sent through it."""

    __slots__ = (
        "_answer", "_compared_ns", "_counter", "_echo", "_family", "_fd", "_headers", "_known_by", "_sock",
        "_wall_ahead_ns", "closed", "dropped", "net", "waiting",
    )  # fmt: skip

    def __init__(self, net: "Net", family: socket.AddressFamily) -> None:
        self.net = net
        self.closed = False
        self.dropped = 0
        # By number: the waiting check, the echo's mark, and its send time on both clocks.
        self.waiting: dict[int, tuple[Pinging, bytes, int, int]] = {}
        self._family = family
        self._sock, raw = open_socket(family)
        self._headers = raw and family == socket.AF_INET  # length of the IP header before the packet
        # From there on, request and answer are equal; except on raw sockets, the kernel sets the identifier.
        self._known_by = slice(_IDENT if raw else _NUMBER, HEADER.size)
        self._counter = secrets.randbits(16)
        self._answer = ANSWERS[family]
        # How far the wall clock is ahead of the monotonic one, and when that was read.
        self._wall_ahead_ns = 0
        self._compared_ns = -_COMPARED_NS
        self._echo = echoes(family, secrets.randbits(16) | 1 if raw else 0, secrets.token_bytes(4))
        self._fd = self._sock.fileno()
        net.watch(self._fd, self, EPOLLIN, shared=True)

    def send(self, pinging: Pinging, padding: bytes) -> int:
        """Send an echo. Raises BlockingIOError if the buffer is full, OSError if there is no route."""
        if len(self.waiting) >= _MOST_WAITING:
            raise BlockingIOError
        counter = self._counter = (self._counter + 1) & 0xFFFFFFFF
        while counter & 0xFFFF in self.waiting:
            counter = self._counter = (counter + 1) & 0xFFFFFFFF
        packet = self._echo(counter)
        number, known_by = counter & 0xFFFF, packet[self._known_by]
        packet += padding
        began_ns = time.monotonic_ns()
        if began_ns - self._compared_ns > _COMPARED_NS:
            began_ns, _ = self._compare()
        self.waiting[number] = (pinging, known_by, began_ns + self._wall_ahead_ns, began_ns)
        try:
            self._sock.sendto(packet, (pinging.address, 0))
        except OSError as error:
            self._give_again(error, packet, number, pinging.address)
        return number

    def on_events(self, _events: int = 0) -> None:
        """Read what has arrived."""
        came = self._read()
        if came:
            now_ns, wall_ns = self._compare()
            for data, extras in came:
                self._match(data, extras, now_ns, wall_ns)

    def _compare(self) -> tuple[int, int]:
        """Read both clocks, monotonic and wall, and keep their distance for the next echoes.

        If the wall clock is set in between, an echo's send time is wrong on it: `_match` notices that.
        """
        now_ns, wall_ns = _clocks()
        self._compared_ns, self._wall_ahead_ns = now_ns, wall_ns - now_ns
        return now_ns, wall_ns

    def _read(self) -> list[tuple[bytes, Extras]]:
        """Received answers, without IP headers."""
        receive = self._sock.recvmsg
        came: list[tuple[bytes, Extras]] = []
        for _ in range(_MOST_READS):
            try:
                data, extras, _, _ = receive(_READ_BYTES, _EXTRA_BYTES)
            except BlockingIOError:
                break
            except OSError:  # a network error about any of the echoes
                self._read_faults()
                continue
            if self._headers and data:
                data = data[(data[0] & 15) * 4 :]
            if len(data) >= HEADER.size:
                came.append((data, extras))
        return came

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.net.forget(self._fd)
            self._sock.close()
            for pinging, *_ in list(self.waiting.values()):
                pinging.future.cancel()
            self.waiting.clear()

    def _match(self, data: bytes, extras: Extras, now_ns: int, wall_ns: int) -> None:
        number = data[_NUMBER] << 8 | data[_NUMBER + 1]
        known = self.waiting.get(number)
        if known is None or data[0] != self._answer or data[self._known_by] != known[1]:
            return
        del self.waiting[number]
        at_ns, dropped = parse_reply(extras)
        if dropped:
            self.dropped = dropped
        pinging, _, sent_ns, began_ns = known
        took_ns = now_ns - began_ns
        by_kernel_ns = at_ns - sent_ns
        stepped = abs(wall_ns - sent_ns - took_ns) > _STEP_NS
        pinging.answered(took_ns if stepped or not 0 <= by_kernel_ns <= took_ns else by_kernel_ns)

    def _give_again(self, error: OSError, packet: bytes, number: int, address: str) -> None:
        """Retry: *error* may concern an earlier echo, and its details wait to be read."""
        for _ in range(_MOST_TRIES):
            if isinstance(error, BlockingIOError) or not self._read_faults():
                break
            try:
                self._sock.sendto(packet, (address, 0))
            except OSError as another:
                error = another
            else:
                return
        self.waiting.pop(number, None)
        raise error

    def _read_faults(self) -> bool:
        found = False
        while (one := fault(self._sock)) is not None:
            found = True
            self._blame(one)
        return found

    def _blame(self, one: Fault) -> None:
        known = self.waiting.get(one.number)
        if known is None:
            return
        pinging, known_by, *_ = known
        whole = len(one.quoted) >= HEADER.size
        if one.quoted[self._known_by] == known_by if whole else one.to == pinging.address:
            del self.waiting[one.number]
            pinging.failed(one.words)


def _clocks() -> tuple[int, int]:
    """Monotonic and wall clock in ns, read at the same time: repeated if preempted in between."""
    for _ in range(_MOST_TRIES):
        now_ns, wall_ns = time.monotonic_ns(), time.time_ns()
        if time.monotonic_ns() - now_ns < _APART_NS:
            break
    return now_ns, wall_ns
