"""One connection of one check: a state machine that moves by what epoll saw."""

import socket
import ssl
import struct
import time
from asyncio import Future
from collections.abc import Sequence
from contextlib import suppress
from errno import ECONNRESET, EINPROGRESS
from select import EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP
from typing import TYPE_CHECKING, Final, Protocol

from probe.net import faults, tls
from probe.net.endpoint import Endpoint, show
from probe.net.errors import TargetError
from probe.net.spent import Limit, Spent

if TYPE_CHECKING:
    from probe.net.engine import Net

CONNECTING, SHAKING, SENDING, READING, CLOSED = range(5)

WATCHED: Final = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET
_READ_BYTES: Final = 65_536
# After so many reads other connections get their turn.
_MOST_READS: Final = 8
_STREAM: Final = socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
# Closing resets: nothing is left to say, and TIME_WAIT makes each later connect search longer for a port.
_NO_LINGER: Final = struct.pack("ii", 1, 0)
_LATER: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Reply(Protocol):
    """Who takes in what the target says."""

    @property
    def phase(self) -> str:
        """What is waited for now: ``first byte``, ``body``."""

    @property
    def code(self) -> int:
        """The status that was read, 0 if none yet."""

    def feed(self, data: bytes) -> bool:
        """Take in *data*; True when all is there. Raises TargetError."""

    def end(self, peer: str) -> None:
        """The target closed: return if that ends the reply well, else raise TargetError."""


class Connection:
    """Connects to the first address that lets it; then TLS; then says *words*; then *reply* hears it out."""

    __slots__ = (
        "_addresses", "_faint", "_fd", "_limit", "_mark", "_net", "_reply", "_share", "_sock",
        "_spent", "_state", "_text", "_to", "_try", "_unsent", "due", "future",
    )  # fmt: skip

    def __init__(
        self,
        net: "Net",
        to: Endpoint,
        addresses: Sequence[str],
        spent: Spent,
        limit: Limit,
        words: bytes,
        reply: Reply | None,
    ) -> None:
        self.future: Future[None] = net.loop.create_future()
        self.due = 0.0
        self._net = net
        self._to = to
        self._addresses = addresses
        self._spent = spent
        self._limit = limit
        self._unsent = words
        self._reply = reply
        self._sock: socket.socket
        self._fd = -1
        self._state = CONNECTING
        self._try = 0
        self._share = 0.0
        self._text = ""
        self._faint = True
        self._mark = time.monotonic()

    def open(self) -> None:
        """Start to connect to the address whose turn it is, for its fair share of the time."""
        address = self._addresses[self._try]
        left = len(self._addresses) - self._try
        now = time.monotonic() if self._try else self._mark
        self._share = (self._limit.deadline - now) / left
        self._net.deadlines.add(self, now + self._share)
        try:
            self._sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, _STREAM)
            self._fd = self._sock.fileno()
            code = self._sock.connect_ex((address, self._to.port))
            if code in {0, EINPROGRESS}:
                self._net.watch(self._fd, self)
                return
        except OSError as error:
            code = error.errno or 0
        self._refused(code)

    def heed(self, events: int) -> None:
        """Go as far as what epoll saw lets us."""
        try:
            self._go(events)
        except _LATER:
            return
        except TargetError as error:
            self._finish(error)
        except ssl.SSLError as error:
            self._finish(tls.fault(error, self._to, self.peer))
        except OSError as error:
            self._finish(TargetError(f"{self._phase()}: {faults.broken(error, self.peer)}"))
        except Exception as error:  # noqa: BLE001 - flies on in the one who waits
            self._finish(error)

    def expire(self) -> None:
        """The time is over: of the whole check, or of this address's share."""
        if self._state == CONNECTING:
            waited = f"{self._share:.1f} s" if len(self._addresses) > 1 else self._limit.words
            self._next(f"connect: timed out after {waited} to {self.peer}", faint=False)
        elif self._state != CLOSED:
            self._finish(TargetError(faults.late(self._phase(), self._limit.words)))

    def close(self) -> None:
        """Free socket and slot, whatever the state; again is harmless."""
        if self._state != CLOSED:
            self._state = CLOSED
            self._drop()
            self.future.cancel()

    @property
    def peer(self) -> str:
        """The address that is, or was last, connected to."""
        return show(self._addresses[self._try], self._to.port)

    def _go(self, events: int) -> None:
        if self._state == CONNECTING and not self._connected(events):
            return
        if self._state == SHAKING:
            self._shake()
        if self._state == SENDING:
            self._send(events)
        if self._state == READING and (events & ~EPOLLOUT or self._to.tls):
            self._read(events)

    def _connected(self, events: int) -> bool:
        if events & (EPOLLERR | EPOLLHUP):
            code = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            # A reset comes only after the handshake: what is sent or read next will say so.
            if code not in {0, ECONNRESET}:
                self._refused(code)
                return False
        elif faults.met_itself(self._sock, self._addresses[self._try], self._to.port):
            self._next(f"connect: refused by {self.peer}", faint=False)
            return False
        self._net.deadlines.remove(self)
        self._net.deadlines.add(self, self._limit.deadline)
        self._spent.connect = self._lap(self._spent.connect)
        if self._to.tls:
            self._sock = self._net.trust.wrap(self._sock, self._to)
            self._state = SHAKING
        else:
            self._say()
        return True

    def _shake(self) -> None:
        self._sock.do_handshake()  # type: ignore[attr-defined]
        self._spent.tls = self._lap(self._spent.tls)
        self._say()

    def _say(self) -> None:
        if self._reply is None:
            self._finish(None)
        else:
            self._state = SENDING

    def _send(self, events: int) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[self._sock.send(self._unsent) :]
        except _LATER:
            if events & EPOLLIN:
                self._read(events)
            return
        except (BrokenPipeError, ConnectionResetError):
            # It may have answered first, that the request is too large for instance.
            with suppress(OSError, TargetError):
                self._read(events)
            if self._state != CLOSED:
                raise
            return
        self._state = READING

    def _read(self, events: int) -> None:
        reply = self._reply
        assert reply is not None  # noqa: S101 - only those with one get here
        for _ in range(_MOST_READS):
            data = self._sock.recv(_READ_BYTES)
            if reply.phase == "first byte" and data:
                self._spent.first_byte = self._lap(self._spent.first_byte)
            if not data:
                reply.end(self.peer)
                break
            if reply.feed(data):
                break
            # A short read emptied the socket; whatever comes now is a new event. TLS may hold more by itself.
            if len(data) < _READ_BYTES and not events & EPOLLRDHUP and not self._to.tls:
                return
        else:
            self._net.again(self)
            return
        self._spent.transfer = self._lap(self._spent.transfer)
        self._finish(None)

    def _lap(self, before: float | None) -> float:
        now = time.monotonic()
        took = now - self._mark
        self._mark = now
        return took if before is None else before + took

    def _phase(self) -> str:
        if self._state == READING and self._reply is not None:
            return self._reply.phase
        return "send" if self._state == SENDING else "tls"

    def _refused(self, code: int) -> None:
        if code in faults.OURS:
            self._finish(faults.ours(code))
        else:
            self._next(faults.refused(code, self.peer), faint=code in faults.UNREACHABLE)

    def _next(self, text: str, *, faint: bool) -> None:
        """On to the next address; a *faint* fault is told only if none of the others says more."""
        self._drop()
        if self._faint:
            self._text, self._faint = self._text if faint and self._text else text, faint
        if self._try + 1 < len(self._addresses):
            self._try += 1
            self.open()
        else:
            self._finish(TargetError(self._text))

    def _finish(self, error: Exception | None) -> None:
        self._state = CLOSED
        self._drop()
        if self.future.done():
            return
        if error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(error)

    def _drop(self) -> None:
        self._net.deadlines.remove(self)
        if self._fd >= 0:
            self._net.forget(self._fd)
            self._fd = -1
            with suppress(OSError):  # on a socket that was reset already
                self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self._sock.close()
