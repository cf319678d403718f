"""Servers of HTTP/2, frame by frame, each a function of one accepted connection."""

import socket
import ssl
import struct
from collections.abc import Callable, Sequence

from tests.probe import targets
from tests.probe.net.zoo import Issued, serving
from tests.probe.targets import Behaviour

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 6, 7, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
STREAM = 1
_PREFACE = 24
_HEAD = 9

# Of the static table of HPACK.
STATUS = {200: b"\x88", 204: b"\x89", 404: b"\x8d", 500: b"\x8e"}


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def field(name: str, value: str) -> bytes:
    """A header in full, so that nobody need remember it."""
    return b"\0" + _text(name) + _text(value)


def _text(text: str) -> bytes:
    length = len(text)
    if length < 127:
        return bytes([length]) + text.encode()
    rest, out = length - 127, b"\x7f"
    while rest > 127:
        out += bytes([rest & 127 | 128])
        rest >>= 7
    return out + bytes([rest]) + text.encode()


def headers(status: int = 200, *fields: bytes, end: bool = False) -> bytes:
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), STREAM, STATUS[status] + b"".join(fields))


def data(body: bytes, *, end: bool = True) -> bytes:
    return frame(DATA, END_STREAM if end else 0, STREAM, body)


def resets(code: int) -> bytes:
    return frame(RST_STREAM, 0, STREAM, struct.pack("!I", code))


def goes_away(code: int, last: int = 0) -> bytes:
    return frame(GOAWAY, 0, 0, struct.pack("!II", last, code))


def ends(sock: socket.socket) -> None:
    """Says that nothing more will come; what the client still says is taken in."""
    if isinstance(sock, ssl.SSLSocket):
        sock = sock.unwrap()
    sock.shutdown(socket.SHUT_WR)
    targets.stall(sock)


def answers(*frames: bytes, then: Callable[[socket.socket], None] = targets.stall) -> Behaviour:
    """Sends *frames* once the request is whole, then does what *then* does."""

    def behave(sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        read_request(sock)
        sock.sendall(b"".join(frames))
        then(sock)

    return behave


def read_request(sock: socket.socket) -> bytes:
    """What the client sent up to the end of its request."""
    seen = _read(sock, _PREFACE)
    sock.sendall(frame(SETTINGS, 0, 0))
    while True:
        head = _read(sock, _HEAD)
        payload = _read(sock, int.from_bytes(head[:3], "big"))
        seen += head + payload
        kind, flags = head[3], head[4]
        if kind == SETTINGS and not flags & ACK:
            sock.sendall(frame(SETTINGS, ACK, 0))
        if kind in {HEADERS, DATA} and flags & END_STREAM:
            return seen


def context(leaf: Issued, *chain: Issued, protocols: Sequence[str] = ("h2",)) -> ssl.SSLContext:
    made = serving(leaf, *chain)
    made.set_alpn_protocols(list(protocols))
    return made


def _read(sock: socket.socket, count: int) -> bytes:
    out = b""
    while len(out) < count:
        part = sock.recv(count - len(out))
        if not part:
            raise ConnectionAbortedError
        out += part
    return out
