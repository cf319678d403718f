"""The start of a MySQL or MariaDB session: greeting, TLS, login."""

import hashlib
import struct
from collections.abc import Awaitable, Callable
from typing import Final

from probe.net.errors import TargetError
from probe.net.stream import Stream
from probe.net.tls.starttls import shown

_MOST_BYTES: Final = 65_536
_MOST_PACKETS: Final = 20
_PROTOCOL: Final = 10
# Long password, protocol 4.1, transactions, secure connection, plugin auth.
_WANTED: Final = 0x1 | 0x200 | 0x2000 | 0x8000 | 0x80000
_TLS: Final = 0x800
_UTF8: Final = 45
_OK, _MORE, _SWITCH, _ERROR = 0x00, 0x01, 0xFE, 0xFF
_FAST_OK, _FULL = b"\x03", b"\x04"
_SALT_BYTES: Final = 20
# Errors that only say that this client has no access.
_STRANGER: Final = (1045, 1698, 1251, 3118)

Secure = Callable[[], Awaitable[None]]


class MysqlConversation:
    """One conversation; *secure* upgrades it to TLS, None: no TLS."""

    __slots__ = ("_safe", "_secure", "_sequence", "_stream")

    def __init__(self, stream: Stream, secure: Secure | None) -> None:
        self._stream = stream
        self._secure = secure
        self._safe = False
        self._sequence = 0

    async def start(self, username: str, password: str) -> None:
        """Complete the login: servers block clients that often abort it. Raises TargetError.

        Without a *username*, a rejection is sufficient.
        """
        plugin, salt, can = _greeting(await self._packet())
        asked = _WANTED
        if self._secure is not None:
            if not can & _TLS:
                raise TargetError("starttls: the server has no TLS")
            asked |= _TLS
            await self._send(struct.pack("<IIB23x", asked, _MOST_BYTES, _UTF8))
            await self._secure()
            self._safe = True
        self._stream.phase = "auth"
        proof = _proof(plugin, password.encode(), salt)
        await self._send(
            struct.pack("<IIB23x", asked, _MOST_BYTES, _UTF8)
            + (username or "tocsin").encode()
            + b"\0"
            + bytes([len(proof)])
            + proof
            + plugin
            + b"\0"
        )
        await self._finish(username, password.encode(), plugin, salt)

    async def _finish(self, username: str, password: bytes, plugin: bytes, salt: bytes) -> None:
        for _ in range(_MOST_PACKETS):
            packet = await self._packet()
            kind = packet[0]
            if kind == _OK:
                self._stream.farewell(b"\1\0\0\0\1")  # quit
                return
            if kind == _ERROR:
                code = _code(packet)
                if username or code not in _STRANGER:
                    raise TargetError(f"auth: refused ({code})")
                return
            if kind == _SWITCH:
                plugin, _, rest = packet[1:].partition(b"\0")
                salt = rest[:_SALT_BYTES]
                await self._send(_proof(plugin, password, salt))
            elif kind == _MORE and packet[1:] == _FULL:
                await self._in_clear(username, password)
            elif kind != _MORE or packet[1:] != _FAST_OK:
                raise TargetError("auth: malformed answer")
        raise TargetError(f"auth: more than {_MOST_PACKETS} packets")

    async def _in_clear(self, username: str, password: bytes) -> None:
        """Send the password itself: the server has not cached this login."""
        if username and not self._safe:
            raise TargetError("auth: the server wants the password itself, which needs TLS")
        await self._send(password + b"\0" if self._safe else b"\0")

    async def _packet(self) -> bytes:
        head = await self._stream.exactly(4)
        size = int.from_bytes(head[:3], "little")
        if not 0 < size <= _MOST_BYTES:
            raise TargetError(f"{self._stream.phase}: not a MySQL server ({shown(head)})")
        self._sequence = (head[3] + 1) % 256
        return await self._stream.exactly(size)

    async def _send(self, body: bytes) -> None:
        await self._stream.send(len(body).to_bytes(3, "little") + bytes([self._sequence]) + body)
        self._sequence = (self._sequence + 1) % 256


def _greeting(packet: bytes) -> tuple[bytes, bytes, int]:
    """The authentication plugin, its salt, and the server's capabilities."""
    if packet[0] == _ERROR:
        data = packet[9:] if packet[3:4] == b"#" else packet[3:]
        raise TargetError(f"greeting: answered {_code(packet)} {shown(data)}")
    _version, end, rest = packet[1:].partition(b"\0")
    if packet[0] != _PROTOCOL or not end or len(rest) < 31:
        raise TargetError(f"greeting: not a MySQL server ({shown(packet)})")
    can = int.from_bytes(rest[13:15], "little") | int.from_bytes(rest[18:20], "little") << 16
    more = max(13, rest[20] - 8)
    salt = rest[4:12] + rest[31 : 31 + more]
    plugin = rest[31 + more :].partition(b"\0")[0] or b"mysql_native_password"
    return plugin, salt[:_SALT_BYTES], can


def _code(packet: bytes) -> int:
    return int.from_bytes(packet[1:3], "little")


def _proof(plugin: bytes, password: bytes, salt: bytes) -> bytes:
    """The response that proves knowledge of the password; empty if *plugin* is unknown or needs none."""
    if not password:
        return b""
    if plugin == b"mysql_native_password":
        once = hashlib.sha1(password).digest()  # noqa: S324 - as the server wants it
        mixed = hashlib.sha1(salt + hashlib.sha1(once).digest()).digest()  # noqa: S324 - same
    elif plugin == b"caching_sha2_password":
        once = hashlib.sha256(password).digest()
        mixed = hashlib.sha256(hashlib.sha256(once).digest() + salt).digest()
    else:
        raise TargetError(f"auth: a way to log in that is not known ({shown(plugin)})")
    return bytes(number ^ other for number, other in zip(once, mixed, strict=True))
