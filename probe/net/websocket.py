"""WebSocket (RFC 6455) over a stream: the upgrade and the framing of one message."""

import base64
import hashlib
import os
import struct
from collections.abc import Mapping
from typing import Final

from probe.net.errors import TargetError
from probe.net.stream import Stream
from probe.net.tls.starttls import shown

_MAGIC: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MOST_HEADER_BYTES: Final = 65_536
_MOST_BYTES: Final = 1_048_576
_MOST_FRAMES: Final = 1_000
_MOST_CONTROL: Final = 125
_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10
_SWITCHING: Final = 101


async def upgrade(stream: Stream, path: str, host: str, headers: Mapping[str, str]) -> int:
    """Request a WebSocket; return the response's status. Raises TargetError if it is no HTTP response."""
    key = base64.b64encode(os.urandom(16))
    own = {"Host": host, "User-Agent": "tocsin"}
    given = {name.lower() for name in headers}
    lines = [f"{name}: {value}" for name, value in own.items() if name.lower() not in given]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    stream.phase = "upgrade"
    await stream.send(
        "\r\n".join([f"GET {path} HTTP/1.1", *lines]).encode("utf-8")
        + b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        + key
        + b"\r\n\r\n"
    )
    status, found = _head(await stream.until(b"\r\n\r\n", _MOST_HEADER_BYTES))
    if status == _SWITCHING:
        proof = base64.b64encode(hashlib.sha1(key + _MAGIC).digest())  # noqa: S324 - as the protocol wants it
        if found.get(b"upgrade", b"").lower() != b"websocket" or found.get(b"sec-websocket-accept") != proof:
            raise TargetError("upgrade: the answer is not one to this request")
    return status


async def say(stream: Stream, text: str) -> None:
    await _send(stream, _TEXT, text.encode())


async def hear(stream: Stream) -> bytes:
    """The next complete message. Raises TargetError if the peer closes instead."""
    message, begun = bytearray(), False
    for _ in range(_MOST_FRAMES):
        kind, last, data = await _frame(stream)
        if kind == _PING:
            await _send(stream, _PONG, data)
        elif kind == _CLOSE:
            raise TargetError(f"{stream.phase}: closed by the server{_reason(data)}")
        elif kind in {_TEXT, _BINARY, _CONTINUED} and begun == (kind == _CONTINUED):
            begun = True
            message += data
            if len(message) > _MOST_BYTES:
                raise TargetError(f"{stream.phase}: a message of more than {_MOST_BYTES} bytes")
            if last:
                return bytes(message)
        elif kind != _PONG:
            raise TargetError(f"{stream.phase}: malformed frame")
    raise TargetError(f"{stream.phase}: more than {_MOST_FRAMES} frames")


def close(stream: Stream) -> None:
    """Send a close frame, without waiting for the answer."""
    stream.farewell(_framed(_CLOSE, struct.pack("!H", 1000)))


def _head(raw: bytes) -> tuple[int, dict[bytes, bytes]]:
    first, *lines = raw.split(b"\r\n")
    parts = first.split(b" ", 2)
    if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or not parts[1].isdigit() or len(parts[1]) != 3:
        raise TargetError(f"upgrade: not an HTTP response ({shown(first)})")
    pairs = (line.partition(b":") for line in lines)
    return int(parts[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _frame(stream: Stream) -> tuple[int, bool, bytes]:
    first, second = await stream.exactly(2)
    kind, size = first & 15, second & 127
    if first & 0x70 or second & 128 or (kind >= _CLOSE and (size > _MOST_CONTROL or not first & 128)):
        raise TargetError(f"{stream.phase}: malformed frame")
    if size > _MOST_CONTROL:
        form = "!H" if size == _MOST_CONTROL + 1 else "!Q"
        size = struct.unpack(form, await stream.exactly(struct.calcsize(form)))[0]
    if size > _MOST_BYTES:
        raise TargetError(f"{stream.phase}: a message of more than {_MOST_BYTES} bytes")
    return kind, bool(first & 128), await stream.exactly(size)


async def _send(stream: Stream, kind: int, data: bytes) -> None:
    await stream.send(_framed(kind, data))


def _framed(kind: int, data: bytes) -> bytes:
    """One frame, masked as a client's must be."""
    size = len(data)
    if size <= _MOST_CONTROL:
        head = struct.pack("!BB", 128 | kind, 128 | size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", 128 | kind, 254, size)
    else:
        head = struct.pack("!BBQ", 128 | kind, 255, size)
    mask = os.urandom(4)
    spread = (mask * (size // 4 + 1))[:size]
    masked = (int.from_bytes(data, "big") ^ int.from_bytes(spread, "big")).to_bytes(size, "big")
    return head + mask + masked


def _reason(data: bytes) -> str:
    if len(data) < 2:
        return ""
    return (
        f" ({struct.unpack('!H', data[:2])[0]} {shown(data[2:])})"
        if data[2:]
        else f" ({data[0] << 8 | data[1]})"
    )
