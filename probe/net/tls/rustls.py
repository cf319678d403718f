"""TLS by rustls, where it is installed: half of OpenSSL's work for a handshake."""

import asyncio
import re
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, cast

from probe.net.errors import TargetError

try:
    import rtls
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True

_READ_BYTES: Final = 65_536
_MOST_REASON: Final = 100
# Limit of records without application data: tickets, new keys.
_MOST_IDLE_BYTES: Final = 1_048_576

# OpenSSL's names of the errors, which have human-readable texts.
_ALERT: Final = "received fatal alert: "
_OLD_ALERTS: Final = frozenset(
    {
        "UNEXPECTED_MESSAGE", "BAD_RECORD_MAC", "DECOMPRESSION_FAILURE", "HANDSHAKE_FAILURE",
        "BAD_CERTIFICATE", "UNSUPPORTED_CERTIFICATE", "CERTIFICATE_REVOKED", "CERTIFICATE_EXPIRED",
        "CERTIFICATE_UNKNOWN", "ILLEGAL_PARAMETER",
    }
)  # fmt: skip
_NEW_ALERTS: Final = frozenset({"CERTIFICATE_REQUIRED", "MISSING_EXTENSION"})
_REASONS: Final = (
    ("cannot decrypt", "DECRYPTION_FAILED_OR_BAD_RECORD_MAC"),
    ("received corrupt message of type InvalidContentType", "WRONG_VERSION_NUMBER"),
)

Refuse = Callable[[OSError], TargetError]


def trusting(authority: bytes) -> ssl.SSLContext | None:
    """A context that trusts *authority* (DER); None if rustls does not support it."""
    context = rtls.SSLContext(rtls.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=authority)
    except ssl.SSLError:
        return None
    return context


class RustSocket:
    """The part of `ssl.SSLSocket` that checks need, over the nonblocking *sock*.

    A failed handshake raises *refuse*'s result for its error; one not done within *trial_s* has failed, too.
    The library's own socket is not used: it busy-loops while its peer does not read.
    """

    __slots__ = (
        "_coming",
        "_dry",
        "_error",
        "_going",
        "_refuse",
        "_shaken",
        "_sock",
        "_timer",
        "_tls",
        "_unsent",
    )

    def __init__(
        self, sock: socket.socket, by: ssl.SSLContext, host: str, refuse: Refuse, trial_s: float | None
    ) -> None:
        self._sock = sock
        self._refuse = refuse
        self._coming = rtls.MemoryBIO()
        self._going = rtls.MemoryBIO()
        self._unsent = b""
        self._error: ssl.SSLError | None = None
        self._shaken = False
        self._dry = False  # all received data was processed
        self._timer: asyncio.TimerHandle | None = None
        try:
            self._tls: Any = cast("Any", by).wrap_bio(self._coming, self._going, server_hostname=host)
        except ssl.SSLError as error:  # a name that OpenSSL accepts
            raise refuse(error) from None
        if trial_s is not None:
            self._timer = asyncio.get_running_loop().call_later(trial_s, self._give_up)

    def do_handshake(self) -> None:
        try:
            self._shake()
        except (BlockingIOError, ssl.SSLWantReadError):
            raise
        except OSError as error:
            with suppress(OSError):
                self._flush()  # the alert with the reason
            self._end()
            raise self._refuse(error) from None
        self._end()

    def chain(self) -> list[bytes]:
        """The received chain, in DER."""
        return [bytes(item.public_bytes()) for item in self._tls.get_unverified_chain() or ()]

    def send(self, data: bytes) -> int:
        """Accept as much of *data* as can be sent soon."""
        if self._unsent:
            self._flush()
        count: int = self._tls.write(data[:_READ_BYTES])
        with suppress(BlockingIOError):
            self._flush()
        return count

    def recv(self, most: int) -> bytes:
        """Up to *most* bytes, none at the end. Raises BlockingIOError if there are none yet."""
        if self._error is not None:
            raise self._error
        with suppress(BlockingIOError):
            self._flush()
        idle = 0
        while idle < _MOST_IDLE_BYTES:
            if not self._dry:
                try:
                    return bytes(self._tls.read(most))
                except ssl.SSLWantReadError:
                    self._dry = True
                except ssl.SSLError as error:
                    return self._before(error, most)
            if self._told_end():
                return b""
            data = self._sock.recv(_READ_BYTES)
            if not data:
                return b""
            self._coming.write(data)
            self._dry = False
            idle += len(data)
        raise TargetError("tls: connection failed: nothing to read in all that was sent")

    def setsockopt(self, level: int, name: int, value: bytes) -> None:
        self._sock.setsockopt(level, name, value)

    def close(self) -> None:
        """Close; during the handshake that counts as a failure: the next check must not wait again."""
        if not self._shaken:
            self._end()
            self._refuse(TimeoutError())
        with suppress(OSError):
            self._flush()
        self._sock.close()

    def _shake(self) -> None:
        while True:
            self._flush()
            data = self._sock.recv(_READ_BYTES)
            if not data:
                raise ssl.SSLEOFError
            self._coming.write(data)
            with suppress(ssl.SSLWantReadError):
                self._tls.do_handshake()
                return  # the closing alert is sent with the request

    def _flush(self) -> None:
        self._unsent += self._going.read()
        while self._unsent:
            self._unsent = self._unsent[self._sock.send(self._unsent) :]

    def _told_end(self) -> bool:
        """Whether the peer closed TLS. The library does not say, but rustls then stops reading."""
        return not self._tls._conn.wants_read()  # noqa: SLF001 - there is no public way

    def _before(self, error: ssl.SSLError, most: int) -> bytes:
        """Data received before *error*, if any: OpenSSL returns that first."""
        error.reason = _reason(error.reason or "")
        self._error = error
        with suppress(ssl.SSLError):
            return bytes(self._tls.read(most))
        raise error

    def _give_up(self) -> None:
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def _end(self) -> None:
        self._shaken = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _reason(text: str) -> str:
    if text.startswith(_ALERT):
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text.removeprefix(_ALERT)).upper()
        if name in _NEW_ALERTS:
            return f"TLSV13_ALERT_{name}"
        return f"SSLV3_ALERT_{name}" if name in _OLD_ALERTS else f"TLSV1_ALERT_{name}"
    return next((name for start, name in _REASONS if text.startswith(start)), text[:_MOST_REASON])
