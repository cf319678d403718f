"""The start of a PostgreSQL session: startup, login, ready."""

import base64
import hashlib
import hmac
import secrets
import struct
from typing import Final

from probe.net.errors import TargetError
from probe.net.stream import Stream
from probe.net.tls.starttls import shown

_VERSION: Final = 196_608
_MOST_BYTES: Final = 65_536
_MOST_MESSAGES: Final = 1_000
_MOST_ROUNDS: Final = 100_000
_OK, _CLEAR, _MD5, _SASL, _SASL_GO, _SASL_END = 0, 3, 5, 10, 11, 12
_MECHANISM: Final = b"SCRAM-SHA-256"
# Errors that only say that this client has no access (invalid authorization, no such database).
_STRANGER: Final = ("28", "3D")


async def start(stream: Stream, username: str, password: str, database: str) -> None:
    """Log in; without a *username*, the server's request for a login is sufficient. Raises TargetError."""
    fields = {"user": username or "tocsin", "database": database or username or "postgres"}
    text = "".join(f"{name}\0{value}\0" for name, value in fields.items()).encode() + b"\0"
    stream.phase = "startup"
    await stream.send(struct.pack("!II", len(text) + 8, _VERSION) + text)
    scram: _Scram | None = None
    for _ in range(_MOST_MESSAGES):
        kind, body = await _message(stream)
        if kind == b"E":
            if _is_of_a_stranger(body) and not username:
                return
            raise TargetError(f"{stream.phase}: {_said(body, hide=stream.phase == 'auth')}")
        if kind == b"Z" or (kind == b"R" and not username):
            stream.farewell(b"X\0\0\0\4")
            return
        if kind == b"R":
            stream.phase = "auth"
            scram = await _answer(stream, body, scram, username.encode(), password.encode())
    raise TargetError(f"{stream.phase}: more than {_MOST_MESSAGES} messages")


async def _message(stream: Stream) -> tuple[bytes, bytes]:
    kind = await stream.exactly(1)
    size = struct.unpack("!I", await stream.exactly(4))[0] if kind in b"REZSKNv" else 0
    if not 4 <= size <= _MOST_BYTES:
        raise TargetError(f"{stream.phase}: not a PostgreSQL server ({shown(kind)})")
    return kind, await stream.exactly(size - 4)


def _fields(body: bytes) -> dict[str, str]:
    parts = [part.decode("utf-8", "replace") for part in body.split(b"\0") if part]
    return {part[0]: part[1:] for part in parts}


def _is_of_a_stranger(body: bytes) -> bool:
    return _fields(body).get("C", "").startswith(_STRANGER)


def _said(body: bytes, *, hide: bool) -> str:
    """The error's text; *hide*: errors of a login may repeat it."""
    fields = _fields(body)
    code = shown(fields.get("C", "?").encode())
    return f"refused ({code})" if hide else f"answered {code} {shown(fields.get('M', '').encode())}"


async def _answer(
    stream: Stream, body: bytes, scram: "_Scram | None", username: bytes, password: bytes
) -> "_Scram | None":
    """Answer the server's authentication request in *body*."""
    if len(body) < 4:
        raise TargetError("auth: malformed request")
    asked, rest = struct.unpack("!I", body[:4])[0], body[4:]
    if asked == _OK:
        # A server that requests a proof and then accepts anybody is an impostor.
        if scram is not None and not scram.proven:
            raise TargetError("auth: the server did not prove that it knows the password")
        return scram
    if asked == _CLEAR:
        await _send(stream, password + b"\0")
    elif asked == _MD5 and len(rest) == 4:
        inner = hashlib.md5(password + username).hexdigest().encode()  # noqa: S324 - as the server wants it
        await _send(stream, b"md5" + hashlib.md5(inner + rest).hexdigest().encode() + b"\0")  # noqa: S324 - same
    elif asked == _SASL and _MECHANISM in rest.split(b"\0"):
        scram = _Scram(password)
        first = scram.first()
        await _send(stream, _MECHANISM + b"\0" + struct.pack("!I", len(first)) + first)
    elif asked == _SASL_GO and scram is not None:
        await _send(stream, scram.final(rest))
    elif asked == _SASL_END and scram is not None:
        scram.prove(rest)
    else:
        raise TargetError(f"auth: a way to log in that is not known ({asked})")
    return scram


async def _send(stream: Stream, body: bytes) -> None:
    await stream.send(b"p" + struct.pack("!I", len(body) + 4) + body)


class _Scram:
    """SCRAM-SHA-256 (RFC 5802, 7677), without channel binding."""

    __slots__ = ("_bare", "_expected", "_nonce", "_password", "proven")

    def __init__(self, password: bytes) -> None:
        self._password = password
        self._nonce = secrets.token_urlsafe(18).encode()
        self._bare = b"n=,r=" + self._nonce
        self._expected = b""
        self.proven = False

    def first(self) -> bytes:
        return b"n,," + self._bare

    def final(self, data: bytes) -> bytes:
        """The proof for the server's challenge *data*."""
        parts = dict(part.split(b"=", 1) for part in data.split(b",") if b"=" in part)
        try:
            nonce, salt, rounds = parts[b"r"], base64.b64decode(parts[b"s"]), int(parts[b"i"])
        except (KeyError, ValueError):
            raise TargetError("auth: malformed challenge") from None
        if not nonce.startswith(self._nonce) or not 0 < rounds <= _MOST_ROUNDS:
            raise TargetError("auth: malformed challenge")
        salted = hashlib.pbkdf2_hmac("sha256", self._password, salt, rounds)
        key = hmac.digest(salted, b"Client Key", "sha256")
        bare = b"c=biws,r=" + nonce
        whole = b",".join((self._bare, data, bare))
        signed = hmac.digest(hashlib.sha256(key).digest(), whole, "sha256")
        proof = bytes(number ^ other for number, other in zip(key, signed, strict=True))
        server = hmac.digest(salted, b"Server Key", "sha256")
        self._expected = base64.b64encode(hmac.digest(server, whole, "sha256"))
        return bare + b",p=" + base64.b64encode(proof)

    def prove(self, data: bytes) -> None:
        self.proven = bool(self._expected) and hmac.compare_digest(data, b"v=" + self._expected)
