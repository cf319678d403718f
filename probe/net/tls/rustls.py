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
# So much may come that holds nothing to read: tickets, new keys.
_MOST_IDLE_BYTES: Final = 1_048_576

# What OpenSSL would have called it, whose names are put into words.
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
    """A context that trusts *authority*, in DER; None if that is of a form that rustls can't read."""
    context = rtls.SSLContext(rtls.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=authority)
    except ssl.SSLError:
        return None
    return context


class RustSocket:
    """As much of an `ssl.SSLSocket` as a check needs, over *sock*, which does not block.

    A handshake that comes to nothing raises what *refuse* makes of its error. One that is not done within
    *trial_s* has come to nothing too. The library's own socket spins while its peer does not read: not used.
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
        self._dry = False  # nothing is left of what came
        self._timer: asyncio.TimerHandle | None = None
        try:
            self._tls: Any = cast("Any", by).wrap_bio(self._coming, self._going, server_hostname=host)
        except ssl.SSLError as error:  # a name that OpenSSL has nothing against
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
                self._flush()  # the alert that says why
            self._end()
            raise self._refuse(error) from None
        self._end()

    def chain(self) -> list[bytes]:
        """What the server sent of its chain, in DER."""
        return [bytes(one.public_bytes()) for one in self._tls.get_unverified_chain() or ()]

    def send(self, data: bytes) -> int:
        """Take as much of *data* as can go soon."""
        if self._unsent:
            self._flush()
        count: int = self._tls.write(data[:_READ_BYTES])
        with suppress(BlockingIOError):
            self._flush()
        return count

    def recv(self, most: int) -> bytes:
        """Up to *most* bytes, none at the end. Raises BlockingIOError when there are none yet."""
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
        """Given up amidst the handshake, it counts as refused: the next one may not wait for it again."""
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
                return  # the last word goes out with the request

    def _flush(self) -> None:
        self._unsent += self._going.read()
        while self._unsent:
            self._unsent = self._unsent[self._sock.send(self._unsent) :]

    def _told_end(self) -> bool:
        """Did the peer end TLS? The library does not say so, but rustls then wants to read no more."""
        return not self._tls._conn.wants_read()  # noqa: SLF001 - there is no other way

    def _before(self, error: ssl.SSLError, most: int) -> bytes:
        """What came ahead of *error*, if there is anything: OpenSSL hands that out first."""
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
