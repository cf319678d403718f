"""Options of a libcurl transfer: the request, the route, the trust."""

from collections.abc import Collection, Sequence
from typing import Any, Final

import pycurl

from probe.net.curl.route import Proxy, ProxyRoute
from probe.net.endpoint import Endpoint
from probe.net.errors import ProbeError
from probe.net.request import Request
from shared import __version__

HAS_HTTP_3: Final = bool(pycurl.version_info()[4] & 1 << 25)
_AGENT: Final = f"Tocsin/{__version__}"
_SUPPRESS_CONNECT_HEADERS: Final = 265  # pycurl does not name it
_MOST_MS: Final = 600_000
_LENGTH: Final = b"content-length"  # libcurl sets it
_CONNECTION: Final = b"connection"  # forbidden from HTTP/2 on
_BY_VERSION: Final = {
    "1.1": pycurl.CURL_HTTP_VERSION_1_1,
    "2": pycurl.CURL_HTTP_VERSION_2TLS,
    "3": pycurl.CURL_HTTP_VERSION_3ONLY,
}
_SCHEMES: Final = {"http": "http", "https": "https", "socks5": "socks5h", "socks5h": "socks5h"}


def common(easy: Any, to: Endpoint, authorities: str) -> None:
    """Options of all transfers: a new connection, no environment variables, our trust settings."""
    easy.setopt(pycurl.NOSIGNAL, 1)
    easy.setopt(pycurl.NOPROXY, "")
    easy.setopt(pycurl.PROXY, "")
    easy.setopt(pycurl.FRESH_CONNECT, 1)
    easy.setopt(pycurl.FORBID_REUSE, 1)
    easy.setopt(pycurl.SSL_SESSIONID_CACHE, 0)
    # The engine enforces the check's deadline, which is earlier.
    easy.setopt(pycurl.CONNECTTIMEOUT_MS, _MOST_MS)
    if not to.tls:
        return
    easy.setopt(pycurl.OPT_CERTINFO, 1)
    easy.setopt(pycurl.SSL_OPTIONS, pycurl.SSLOPT_NO_PARTIALCHAIN)
    easy.setopt(pycurl.CAINFO, authorities)
    if not to.verify:
        easy.setopt(pycurl.SSL_VERIFYPEER, 0)
        easy.setopt(pycurl.SSL_VERIFYHOST, 0)
    if to.client is not None:
        easy.setopt(pycurl.SSLCERT_BLOB, to.client.chain)
        easy.setopt(pycurl.SSLKEY_BLOB, to.client.key)


def version(easy: Any, way: ProxyRoute, to: Endpoint) -> None:
    """Set the HTTP version; without TLS, HTTP/2 cannot be negotiated, so it is assumed."""
    if way.version == "3" and not HAS_HTTP_3:
        raise ProbeError("probe: its libcurl does not speak HTTP/3")
    plain = way.version == "2" and not to.tls
    easy.setopt(
        pycurl.HTTP_VERSION,
        pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE if plain else _BY_VERSION[way.version],
    )
    if plain:
        easy.setopt(pycurl.HTTPPROXYTUNNEL, 1)


def request(easy: Any, asked: Request, way: ProxyRoute) -> None:
    """The headers of *asked*, without those that frame it, and its body."""
    unsaid = {_LENGTH} if way.version == "1.1" else {_LENGTH, _CONNECTION}
    head = asked.data.partition(b"\r\n\r\n")[0]
    first, *lines = head.split(b"\r\n")
    easy.setopt(pycurl.URL, _url(asked.endpoint, first.split(b" ")[1].decode()))
    easy.setopt(pycurl.PATH_AS_IS, 1)
    easy.setopt(pycurl.USERAGENT, _AGENT)  # the proxy's certificates; the target's are among the headers
    easy.setopt(pycurl.HEADEROPT, pycurl.HEADER_SEPARATE)
    # Unchanged: our own reader reports errors in it.
    easy.setopt(pycurl.HTTP_TRANSFER_DECODING, 0)
    easy.setopt(pycurl.HTTP09_ALLOWED, 1)
    has_body = any(line[:15].lower() == b"content-length:" for line in lines)
    if has_body:
        easy.setopt(pycurl.POSTFIELDSIZE_LARGE, len(asked.body or b""))
        easy.setopt(pycurl.COPYPOSTFIELDS, asked.body or b"")
    elif asked.method == "HEAD":
        easy.setopt(pycurl.NOBODY, 1)
    easy.setopt(pycurl.CUSTOMREQUEST, asked.method)
    easy.setopt(pycurl.HTTPHEADER, _headers(lines, unsaid))


def connect(easy: Any, to: Endpoint, address: str) -> None:
    """Connect directly to *address*."""
    easy.setopt(pycurl.CONNECT_TO, [f"::{_bracketed(address)}:{to.port}"])


def among(easy: Any, to: Endpoint, addresses: Sequence[str]) -> None:
    """Connect to the first of *addresses* that answers."""
    easy.setopt(pycurl.RESOLVE, [f"+{_bracketed(to.host)}:{to.port}:{','.join(addresses)}"])


def through(easy: Any, proxy: Proxy, text: str, address: str, authorities: str) -> None:
    """Connect through *proxy* at *address*, which is asked to connect to *text*."""
    to = proxy.endpoint
    shown = _bracketed(to.host if proxy.scheme == "https" else address)
    easy.setopt(pycurl.PROXY, f"{_SCHEMES[proxy.scheme]}://{shown}:{to.port}")
    easy.setopt(pycurl.RESOLVE, [f"+{shown}:{to.port}:{address}"])
    easy.setopt(_SUPPRESS_CONNECT_HEADERS, 1)
    easy.setopt(pycurl.PROXYAUTH, pycurl.HTTPAUTH_BASIC)
    if proxy.username:
        easy.setopt(pycurl.PROXYUSERNAME, proxy.username)
        easy.setopt(pycurl.PROXYPASSWORD, proxy.password)
    if proxy.scheme == "https":
        easy.setopt(pycurl.PROXY_CAINFO, authorities)
    easy.setopt(pycurl.CONNECT_TO, [f"::{_bracketed(text)}:"])


def _url(to: Endpoint, target: str) -> str:
    return f"{'https' if to.tls else 'http'}://{_bracketed(to.host)}:{to.port}{target}"


def _bracketed(host: str) -> str:
    """The host as in URLs: an IPv6 address in brackets, without its zone, which libcurl does not need."""
    return f"[{host.partition('%')[0]}]" if ":" in host else host


def _headers(lines: list[bytes], unsaid: Collection[bytes]) -> list[bytes]:
    """Headers in libcurl's notation: ``Name;`` has no value, ``Name:`` is not sent."""
    given = [line for line in lines if line.partition(b":")[0].lower() not in unsaid]
    named = {line.partition(b":")[0].lower() for line in given}
    empty = [b"Expect:", b"Content-Type:"]
    return list(map(_shown, given)) + [line for line in empty if line[:-1].lower() not in named]


def _shown(line: bytes) -> bytes:
    name, _, value = line.partition(b":")
    return line if value.strip() else name + b";"
