"""One connection of one check: a state machine driven by epoll events."""

import socket
import ssl
import time
from asyncio import Future
from contextlib import suppress
from select import EPOLLET, EPOLLIN, EPOLLOUT, EPOLLRDHUP
from typing import TYPE_CHECKING, Final, Protocol

from probe.net import faults
from probe.net.dial import dial, drop, fault, start
from probe.net.endpoint import Endpoint, show
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.net.tls import expiry, openssl

if TYPE_CHECKING:
    from probe.net.engine import Net

CONNECTING, SHAKING, SENDING, READING, CLOSED = range(5)

WATCHED: Final = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET
_READ_BYTES: Final = 65_536
# After this many reads, other connections get their turn.
_MOST_READS: Final = 8
_LATER: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

# Up to Python 3.12, a reset under TLS is reported as an end.
_GONE: Final = (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError)


class Reply(Protocol):
    """Receives the target's response."""

    @property
    def phase(self) -> str:
        """The current phase: ``first byte``, ``body``."""

    @property
    def code(self) -> int:
        """The status code, 0 before it is read."""

    def feed(self, data: bytes) -> bool:
        """Add *data*; True once complete. Raises TargetError."""

    def end(self, peer: str) -> None:
        """The target closed the connection: return if that completes the reply, else raise TargetError."""


class Connection:
    """Connects, or uses a connected socket; TLS with *manner*; sends *words*, feeds *reply*."""

    __slots__ = (
        "_fd", "_limit", "_manner", "_mark", "_net", "_reply", "_sock", "_spent", "_state", "_to", "_unsent",
        "address", "due", "future",
    )  # fmt: skip

    def __init__(
        self,
        net: "Net",
        to: Endpoint,
        spent: PhaseDurations,
        limit: Limit,
        words: bytes = b"",
        reply: Reply | None = None,
        manner: openssl.HandshakeMode | None = None,
    ) -> None:
        self.future: Future[None] = net.loop.create_future()
        self.due = 0.0
        self.address = ""
        self._net = net
        self._to = to
        self._spent = spent
        self._limit = limit
        self._unsent = words
        self._reply = reply
        self._manner = manner
        self._sock: socket.socket
        self._fd = -1
        self._state = CONNECTING
        self._mark = time.monotonic()

    def open(self, address: str) -> None:
        """Start to connect to *address*."""
        self.address = self._spent.address = address
        self._spent.port = self._to.port
        self._net.deadlines.add(self, self._limit.deadline)
        try:
            self._dial(address)
        except OSError as error:
            self._finish(faults.unconnected(error.errno or 0, self.peer))

    def _dial(self, address: str) -> None:
        spare = self._net.spares.take(address)
        if spare is None:
            self._sock = dial(address, self._to.port)
            self._fd = self._sock.fileno()
            self._net.watch(self._fd, self)
        else:
            start(spare, address, self._to.port)
            self._sock = spare
            self._fd = spare.fileno()
            self._net.resume(self._fd, self)

    def adopt(self, address: str, sock: socket.socket) -> None:
        """Continue with *sock*, which is connected to *address* and already watched."""
        self.address = self._spent.address = address
        self._spent.port = self._to.port
        self._sock = sock
        self._fd = sock.fileno()
        self._net.rewatch(self._fd, self)
        self._net.deadlines.add(self, self._limit.deadline)

    def on_events(self, events: int) -> None:
        """Proceed as far as these epoll events allow."""
        try:
            self._go(events)
        except _LATER:
            return
        except TargetError as error:
            self._finish(error)
        except ssl.SSLError as error:
            self._finish(openssl.fault(error, self.peer, phase=self._phase()))
        except OSError as error:
            self._finish(TargetError(f"{self._phase()}: {faults.broken(error, self.peer)}"))
        except Exception as error:  # noqa: BLE001 - raised again by the waiter
            self._finish(error)

    def expire(self) -> None:
        """The time limit of the whole check has passed."""
        if self._state == CONNECTING:
            self._finish(TargetError(f"connect: timed out after {self._limit.words} to {self.peer}"))
        elif self._state != CLOSED:
            self._finish(TargetError(faults.late(self._phase(), self._limit.words)))

    def close(self) -> None:
        """Free socket and slot in any state; idempotent."""
        if self._state != CLOSED:
            self._state = CLOSED
            self._drop()
            self.future.cancel()

    @property
    def peer(self) -> str:
        """The current or last peer address and port."""
        return show(self.address, self._to.port)

    @property
    def port(self) -> int:
        return self._to.port

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
        code = fault(self._sock, self.address, self._to.port, events)
        if code:
            self._finish(faults.unconnected(code, self.peer))
            return False
        self._spent.connect = self._lap(self._spent.connect)
        if self._manner is not None:
            self._sock = self._manner.wrap(self._sock, self._to.host)
            self._state = SHAKING
        else:
            self._say()
        return True

    def _shake(self) -> None:
        assert self._manner is not None  # noqa: S101 - only those with one get here
        self._sock.do_handshake()  # type: ignore[attr-defined]
        self._spent.tls = self._lap(self._spent.tls)
        self._spent.ends = expiry.earliest(self._sock)  # type: ignore[arg-type]
        if self._manner.judge is not None:
            self._manner.judge(self._sock, self._to)  # type: ignore[arg-type]
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
        except _GONE:
            # It may have responded first, for instance that the request is too large.
            with suppress(TargetError, *_GONE, *_LATER):
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
                if reply.phase == "first byte" and not self._to.tls:
                    self._sock.getpeername()  # fails if the connection was reset before we noticed it
                reply.end(self.peer)
                break
            if reply.feed(data):
                break
            # A short read emptied the socket; more data causes a new event. TLS may have buffered some.
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

    def _finish(self, error: Exception | None) -> None:
        self._state = CLOSED
        self._drop(reusable=error is None)
        if self.future.done():
            return
        if error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(error)

    def _drop(self, *, reusable: bool = False) -> None:
        self._net.deadlines.remove(self)
        if self._fd >= 0:
            self._net.forget(self._fd)
            self._fd = -1
            if reusable and not self._to.tls:
                self._net.spares.keep(self._sock, self.address)
            else:
                drop(self._sock)
