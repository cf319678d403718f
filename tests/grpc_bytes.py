"""gRPC calls as bytes, for those that no client would make."""

import asyncio
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_PING: Final = b"are you?"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3) + bytes((kind, flags)) + stream.to_bytes(4) + payload


def header(name: bytes, value: bytes) -> bytes:
    """In HPACK: a literal, not indexed."""
    return b"\0" + bytes((len(name),)) + name + bytes((len(value),)) + value


def call(path: bytes, *messages: bytes) -> bytes:
    """A gRPC call, as a client sends it."""
    fields = b"".join(
        header(name, value)
        for name, value in (
            (b":method", b"POST"),
            (b":scheme", b"https"),
            (b":path", path),
            (b":authority", b"localhost"),
            (b"content-type", b"application/grpc"),
            (b"te", b"trailers"),
        )
    )
    data = b"".join(frame(0, 0, 1, b"\0" + len(message).to_bytes(4) + message) for message in messages)
    return PREFACE + frame(4, 0, 0, b"") + frame(1, 4, 1, fields) + data


async def called(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: bytes) -> None:
    """Call *path*, and hang up once the server has taken that in."""
    writer.write(call(path, b"a") + frame(6, 0, 0, _PING))
    heard = b""
    async with asyncio.timeout(10):
        while _PING not in heard:
            heard += (data := await reader.read(65_536))
            assert data, "the connection was closed"
    writer.transport.abort()
