"""HTTP for all channels: one guarded, bounded request that logs no content."""

import asyncio
import errno
import os
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

import aiohttp
from aiohappyeyeballs import AddrInfoType
from yarl import URL

from collector.platform.hosts import HostResolver
from collector.platform.mailer import Mailer
from shared import trust
from shared.clock import utc_now
from shared.errors import TocsinError
from shared.held import demand_none
from shared.net import refusal

MAX_ANSWER_BYTES = 65_536
_KEPT_BYTES = 8_192
_DRAIN_S = 1.0
_PER_HOST = 500
_REFUSED = errno.EACCES
_UNRESOLVED = "the host name does not resolve"
_WORDS = {
    _REFUSED: "this address may not be reached from here",
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset",
    errno.EPIPE: "connection reset",
}
_SAID: tuple[tuple[type[Exception], str], ...] = (
    (aiohttp.ClientConnectorSSLError, "TLS handshake failed"),
    (aiohttp.ClientConnectorDNSError, _UNRESOLVED),
    (aiohttp.ServerDisconnectedError, "connection closed without an answer"),
    (aiohttp.InvalidURL, "the URL cannot be used"),
)


class NoAnswer(TocsinError):
    """There was no response; the text says why, without quoting the request."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """*retry_after_s*: from a Retry-After header, if there is one; *body*: its beginning."""

    status: int
    retry_after_s: float | None = None
    body: bytes = b""


def guarded(*, allow_private: bool) -> Callable[[AddrInfoType], socket.socket]:
    """Return a factory of sockets to addresses that may be reached, for connections that teams choose.

    The address of the connection itself is checked, regardless of how it was resolved.
    """

    def make(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, address = info
        if refusal(str(address[0]), allow_private=allow_private):
            raise OSError(_REFUSED, _WORDS[_REFUSED])
        return socket.socket(family=family, type=kind, proto=protocol)

    return make


class Transport:
    """Connects to addresses that teams choose, one request per connection. Needs a running loop.

    *mailer*: the operator's mail server, if any; teams cannot choose it.
    *nameservers* None: the system's.
    """

    __slots__ = ("_names", "_session", "allow_private", "mailer")

    def __init__(
        self, *, allow_private: bool, mailer: Mailer | None = None, nameservers: Sequence[str] = ()
    ) -> None:
        self.allow_private = allow_private
        self.mailer = mailer
        self._names = HostResolver(nameservers)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                limit_per_host=_PER_HOST,
                force_close=True,
                socket_factory=guarded(allow_private=allow_private),
                resolver=self._names,
                ssl=trust.of_the_system(),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None),
            skip_auto_headers=("Accept-Encoding", "User-Agent", "Content-Type"),
            auto_decompress=False,
            trust_env=False,
        )

    async def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, timeout_s: float
    ) -> HttpAnswer:
        """Send one request; redirects are not followed. Raises NoAnswer."""
        demand_none("a request to a receiver")
        _refuse_injection(headers)
        try:
            async with asyncio.timeout(timeout_s):
                return await self._exchange(method, url, headers, body)
        except TimeoutError:
            raise NoAnswer(f"no answer within {timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NoAnswer(_why(error)) from None

    async def texts(self, name: str, *, timeout_s: float) -> list[str]:
        """The values of the TXT records of *name*. Raises NoAnswer."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._names.texts(name)
        except TimeoutError:
            raise NoAnswer(f"no answer within {timeout_s:g} s") from None
        except (OSError, ValueError):
            raise NoAnswer(_UNRESOLVED) from None

    async def close(self) -> None:
        await self._session.close()
        await self._names.close()

    async def _exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        async with self._session.request(
            method, _target(url, headers), headers=headers, data=body, allow_redirects=False
        ) as response:
            wait_s = _retry_after(response.headers.get("Retry-After"), utc_now())
            return HttpAnswer(response.status, wait_s, await _drain(response.content))


def _target(url: str, headers: Mapping[str, str]) -> URL:
    """The URL exactly as given: normalizing it could change a token."""
    target = URL(url, encoded=url.isascii())
    own = any(name.lower() == "authorization" for name in headers)
    return target.with_user(None) if own and target.user is not None else target


def _refuse_injection(headers: Mapping[str, str]) -> None:
    if any(letter in text for pair in headers.items() for text in pair for letter in "\r\n\0"):
        raise NoAnswer("a header holds a line break")


async def _drain(content: aiohttp.StreamReader) -> bytes:
    """The response's beginning; the rest is read, too, as peers log an early close as our error."""
    left, kept = MAX_ANSWER_BYTES, b""
    try:
        async with asyncio.timeout(_DRAIN_S):
            while left > 0 and (chunk := await content.read(left)):
                left -= len(chunk)
                kept += chunk[: _KEPT_BYTES - len(kept)]
    except (TimeoutError, aiohttp.ClientError, OSError):
        return kept  # the status is valid anyway
    return kept


def _retry_after(text: str | None, now: datetime) -> float | None:
    """Parse seconds or a date (RFC 9110, section 10.2.3); None for neither."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, (parsedate_to_datetime(text) - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _why(error: Exception) -> str:
    """A readable error; never the library's own text, which may quote the URL or the response."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"certificate refused: {_certificate_fault(error.certificate_error)}"
    known = next((words for kind, words in _SAID if isinstance(error, kind)), None)
    if known is None and isinstance(error, OSError):
        return _network_fault(error)
    return known or "the answer is not HTTP"


def _certificate_fault(error: Exception) -> str:
    text = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else "not valid"
    return text.partition(",")[0]


def _network_fault(error: OSError) -> str:
    if error.errno is None:
        return "connection failed"
    if error.errno < 0:  # the resolver's own error codes, for an address with an unknown zone
        return _UNRESOLVED
    return _WORDS.get(error.errno) or os.strerror(error.errno).lower()
