"""A real HTTP receiver that follows a script: records raw bytes, answers, stalls, resets, drips."""

import asyncio
import contextlib
import socket
import ssl
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.streams import stream_server

Step = Callable[["Exchange"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came: *headers* by lower-case name, *raw_headers* as sent; *at* is monotonic."""

    at: float
    method: str
    target: str
    headers: Mapping[str, str]
    raw_headers: bytes
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a step works with."""

    request: Received
    writer: asyncio.StreamWriter


def answer(status: int = 200, headers: Mapping[str, str] | None = None, body: bytes = b"ok") -> Step:
    """Answer at once."""

    async def step(exchange: Exchange) -> None:
        await _write(
            exchange.writer, _head(status, {"Content-Length": str(len(body)), **(headers or {})}) + body
        )

    return step


def after(seconds: float, then: Step) -> Step:
    """Wait, then go on."""

    async def step(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        await then(exchange)

    return step


def until(event: asyncio.Event, then: Step) -> Step:
    """Stall until the test says so."""

    async def step(exchange: Exchange) -> None:
        await event.wait()
        await then(exchange)

    return step


def raw(data: bytes) -> Step:
    """Send these bytes, then hang up."""

    async def step(exchange: Exchange) -> None:
        await _write(exchange.writer, data)

    return step


async def stall(exchange: Exchange) -> None:
    """Never answer."""
    await asyncio.Event().wait()


async def reset(exchange: Exchange) -> None:
    """Cut the connection with RST."""
    sock: socket.socket = exchange.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.writer.transport.abort()


async def hang_up(exchange: Exchange) -> None:
    """Close without a word."""


def drip(status: int = 200, gap_s: float = 0.02) -> Step:
    """A head at once, then a body of one byte at a time, for ever."""

    async def step(exchange: Exchange) -> None:
        await _write(exchange.writer, _head(status, {}))
        while True:
            await _write(exchange.writer, b".")
            await asyncio.sleep(gap_s)

    return step


def drip_head(gap_s: float = 0.02) -> Step:
    """A head that never ends, one byte at a time."""

    async def step(exchange: Exchange) -> None:
        await _write(exchange.writer, b"HTTP/1.1 200 OK\r\nX-Long: ")
        while True:
            await _write(exchange.writer, b"a")
            await asyncio.sleep(gap_s)

    return step


@dataclass(slots=True)
class Receiver:
    """*script* is used up step by step, then *always* answers."""

    port: int
    scheme: str
    script: list[Step] = field(default_factory=list)
    always: Step = field(default_factory=answer)
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    _arrived: asyncio.Condition = field(default_factory=asyncio.Condition)

    def url(self, path: str = "/hook") -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}{path}"

    async def wait_for(self, count: int, timeout_s: float = 10) -> list[Received]:
        """The first *count* requests, once so many have come."""
        async with asyncio.timeout(timeout_s), self._arrived:
            await self._arrived.wait_for(lambda: len(self.received) >= count)
        return self.received[:count]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                request = await _read(reader)
                step = self.script.pop(0) if self.script else self.always
                async with self._arrived:
                    self.received.append(request)
                    self._arrived.notify_all()
                await step(Exchange(request, writer))
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def receiving(
    *script: Step, always: Step | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    """A receiver on a free port of loopback, gone with all its connections at the end of the block."""
    receiver = Receiver(port=0, scheme="https" if tls else "http", script=list(script))
    receiver.always = always or receiver.always

    async with stream_server(receiver._serve, tls=tls) as receiver.port:
        yield receiver


async def _read(reader: asyncio.StreamReader) -> Received:
    head = await reader.readuntil(b"\r\n\r\n")
    first, _, rest = head.partition(b"\r\n")
    method, target, _ = first.decode("latin-1").split(" ")
    headers = {}
    for line in rest.decode("latin-1").strip().split("\r\n"):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(time.monotonic(), method, target, headers, rest, body)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Told",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()
