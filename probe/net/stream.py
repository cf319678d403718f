"""A connection for protocols that are a dialogue: write, read, start TLS."""

import socket
import ssl
import time
from asyncio import Future
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from probe.net import faults
from probe.net.dial import drop
from probe.net.endpoint import Endpoint, show
from probe.net.errors import TargetError
from probe.net.race import ConnectionRace
from probe.net.spent import Limit, PhaseDurations
from probe.net.tls import openssl

if TYPE_CHECKING:
    from probe.net.engine import Net

T = TypeVar("T")

MOST_LINE_BYTES: Final = 8_192
_READ_BYTES: Final = 65_536
# Limit of all received data: a greeting needs no more.
_MOST_BYTES: Final = 1_048_576
_LATER: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Stream:
    """*phase* names the current step in errors; everything ends at the check's deadline.

    *manner*: a special way to shake hands; *ends*: Unix time at which the first of the received certificates
    expires.
    """

    __slots__ = (
        "_came", "_fd", "_late", "_limit", "_mark", "_net", "_ready", "_sock", "_spent", "_total", "_waiter",
        "address", "due", "ends", "manner", "phase", "to",
    )  # fmt: skip

    def __init__(self, net: "Net", to: Endpoint, spent: PhaseDurations, limit: Limit) -> None:
        self.to = to
        self.phase = "greeting"
        self.address = ""
        self.manner: openssl.HandshakeMode | None = None
        self.ends: float | None = None
        self.due = 0.0
        self._net = net
        self._spent = spent
        self._limit = limit
        self._sock: socket.socket | ssl.SSLSocket | None = None
        self._fd = -1
        self._came = bytearray()
        self._total = 0
        self._ready = False
        self._late = False
        self._waiter: Future[None] | None = None
        self._mark = 0.0

    async def open(self, addresses: Sequence[str]) -> None:
        """Connect to the first of *addresses* that accepts."""
        self._mark = time.monotonic()
        race = ConnectionRace(self._net, addresses, self.to.port, self._limit)
        try:
            race.start()
            await race.future
            self.address, self._sock = race.take()
        finally:
            race.close()
        self._fd = self._sock.fileno()
        self._net.rewatch(self._fd, self)
        self._net.deadlines.add(self, self._limit.deadline)
        self._spent.address, self._spent.port = self.address, self.to.port
        self._spent.connect = self._lap(self._spent.connect)

    async def secure(self, manner: openssl.HandshakeMode, name: str = "") -> ssl.SSLSocket:
        """Shake hands, with *name* instead of the host's own if given; return the socket for inspection only.

        Raises TargetError for data received before it, which anyone on the path may have injected.
        """
        if self._came:
            raise TargetError(f"{self.phase}: more came than the answer, ahead of TLS")
        self.phase = "tls"
        sock = self._sock
        assert sock is not None  # noqa: S101 - opened before
        self._mark = time.monotonic()
        secured = self._sock = await self._when_ready(lambda: manner.wrap(sock, name or self.to.host))
        await self._when_ready(secured.do_handshake)
        self._spent.tls = self._lap(self._spent.tls)
        if manner.judge is not None:
            manner.judge(secured, self.to)
        return secured

    async def send(self, data: bytes) -> None:
        sock = self._sock
        assert sock is not None  # noqa: S101 - opened before
        while data:
            data = data[await self._when_ready(partial(sock.send, data)) :]

    def farewell(self, data: bytes) -> None:
        """Send *data* last of all; errors are ignored, because the peer may have gone already."""
        if self._sock is not None:
            with suppress(OSError):
                self._sock.send(data)

    async def exactly(self, count: int) -> bytes:
        """Receive the next *count* bytes."""
        while len(self._came) < count:
            await self._more()
        return self._take(count)

    async def until(self, mark: bytes, most: int = MOST_LINE_BYTES) -> bytes:
        """Receive up to and including *mark*. Raises TargetError for more than *most* bytes."""
        start = 0
        while (at := self._came.find(mark, start)) < 0:
            if len(self._came) > most:
                raise TargetError(f"{self.phase}: a line of more than {most} bytes")
            start = max(0, len(self._came) - len(mark) + 1)
            await self._more()
        if at > most:
            raise TargetError(f"{self.phase}: a line of more than {most} bytes")
        return self._take(at + len(mark))

    async def line(self) -> bytes:
        """Receive the next line, without its end."""
        return (await self.until(b"\n")).rstrip(b"\r\n")

    @property
    def peer(self) -> str:
        return show(self.address, self.to.port)

    def on_events(self, _events: int) -> None:
        self._ready = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def expire(self) -> None:
        self._late = True
        self.on_events(0)

    def close(self) -> None:
        """Free the socket; idempotent."""
        if self._waiter is not None:
            self._waiter.cancel()
        self._net.deadlines.remove(self)
        if self._fd >= 0 and self._sock is not None:
            self._net.forget(self._fd)
            self._fd = -1
            drop(self._sock)
            if self._spent.first_byte is not None:
                self._spent.transfer = self._lap(self._spent.transfer)

    async def _more(self) -> None:
        sock = self._sock
        assert sock is not None  # noqa: S101 - opened before
        data = await self._when_ready(lambda: sock.recv(_READ_BYTES))
        if not data:
            if not self._total and type(sock) is socket.socket:
                await self._when_ready(sock.getpeername)  # fails if it was reset right after connecting
            raise TargetError(f"{self.phase}: connection closed by {self.peer}")
        if self._spent.first_byte is None:
            self._spent.first_byte = self._lap(None)
        self._total += len(data)
        if self._total > _MOST_BYTES:
            raise TargetError(f"{self.phase}: more than {_MOST_BYTES} bytes")
        self._came += data

    async def _when_ready(self, operation: Callable[[], T]) -> T:
        """Run *operation* as soon as the socket is ready."""
        while True:
            self._ready = False
            try:
                return operation()
            except _LATER:
                await self._wait()
            except ssl.SSLError as error:
                raise openssl.fault(error, self.peer, phase=self.phase) from None
            except OSError as error:
                raise TargetError(f"{self.phase}: {faults.broken(error, self.peer)}") from None

    async def _wait(self) -> None:
        if not self._ready and not self._late:
            self._waiter = self._net.loop.create_future()
            await self._waiter
        if self._late:
            raise TargetError(faults.late(self.phase, self._limit.words))

    def _take(self, count: int) -> bytes:
        data = bytes(self._came[:count])
        del self._came[:count]
        return data

    def _lap(self, before: float | None) -> float:
        now = time.monotonic()
        took = now - self._mark
        self._mark = now
        return took if before is None else before + took


@asynccontextmanager
async def connected(
    net: "Net", to: Endpoint, spent: PhaseDurations, limit: Limit, *, addresses: Sequence[str] = ()
) -> AsyncIterator[Stream]:
    """A stream to *to*, by *addresses* if given, else by its name; closed at the end.

    Raises TargetError for errors of the target, ProbeError for errors of this machine.
    """
    stream = Stream(net, to, spent, limit)
    try:
        found = addresses or await net.addresses(to, spent, limit)
        spent.address, spent.port = found[0], to.port
        await stream.open(found)
        yield stream
    except TargetError as error:
        error.spent = spent
        raise
    finally:
        stream.close()
