"""A client of GET /v1/events on a bare socket, which sees each byte and reads only on request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from tests.http.client import Api

PATIENCE_S = 20


@dataclass(frozen=True, slots=True)
class Block:
    """What stood between two blank lines."""

    id: str | None = None
    event: str | None = None
    data: Any = None
    retry: str | None = None
    comments: int = 0


@dataclass(slots=True)
class Stream:
    """A response whose body has no end yet."""

    status: int
    headers: dict[str, str]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    text: bytes = b""
    opening: list[Block] = field(default_factory=list)

    async def block(self) -> Block:
        """The next one. Raises EOFError when the stream has ended."""
        async with asyncio.timeout(PATIENCE_S):
            while b"\n\n" not in self.text:
                size = int(await self.reader.readline() or b"0", 16)
                self.text += await self.reader.readexactly(size)
                await self.reader.readexactly(2)
                if size == 0:
                    raise EOFError
        raw, _, self.text = self.text.partition(b"\n\n")
        return _read(raw.decode())

    async def events(self, count: int) -> list[Block]:
        """The next *count* blocks that tell an event."""
        blocks: list[Block] = []
        while len(blocks) < count:
            block = await self.block()
            blocks.extend([block] if block.event else [])
        return blocks

    async def end(self) -> None:
        """Read until the server ends the stream, in whatever way."""
        try:
            while True:
                await self.block()
        except (EOFError, ConnectionError):
            pass

    async def rest(self) -> bytes:
        """The body of a plain answer."""
        return await self.reader.readexactly(int(self.headers["content-length"]))


@asynccontextmanager
async def connected(
    api: Api, query: str = "", *, method: str = "GET", **headers: str
) -> AsyncIterator[Stream]:
    """A request for the stream, and its head; *headers* with _ for -."""
    where = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port, limit=2**16)
    lines = [f"{method} /v1/events{query} HTTP/1.1", "Host: tocsin.example.com"]
    lines += [f"Authorization: Bearer {api.token}"] if api.token else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    try:
        async with asyncio.timeout(PATIENCE_S):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        told = dict(line.split(": ", 1) for line in head[1:] if line)
        stream = Stream(
            int(head[0].split()[1]), {name.lower(): text for name, text in told.items()}, reader, writer
        )
        yield stream
    finally:
        writer.transport.abort()


@asynccontextmanager
async def listening(api: Api, query: str = "", **headers: str) -> AsyncIterator[Stream]:
    """A stream whose opening was read: from here on it hears everything."""
    async with connected(api, query, **headers) as stream:
        assert stream.status == 200, stream.status
        stream.opening = [await stream.block(), await stream.block()]
        yield stream


def _read(raw: str) -> Block:
    fields: dict[str, str] = {}
    comments = 0
    for line in raw.split("\n"):
        name, _, value = line.partition(": ")
        if line.startswith(":"):
            comments += 1
        else:
            fields[name] = value
    data = orjson.loads(fields["data"]) if "data" in fields else None
    return Block(fields.get("id"), fields.get("event"), data, fields.get("retry"), comments)
