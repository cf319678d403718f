"""An HTTP/1.1 request, prepared once, and the next one after a redirect."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from probe.net.endpoint import Endpoint, Version, ascii_host
from probe.net.errors import TargetError
from shared import __version__
from shared.client_certificate import ClientCertificate
from shared.kinds.http import Auth, Http

_PORTS: Final = {"http": 80, "https": 443}
_WITH_LENGTH: Final = frozenset({"POST", "PUT", "PATCH"})
# Characters that a URL may contain; others are escaped, and existing escapes are kept.
_SAFE: Final = "!#$%&'()*+,/:;=?@[]~"
# Configured headers that another origin may receive; any other may contain a secret.
_HARMLESS: Final = frozenset(
    {"accept", "accept-language", "cache-control", "content-type", "pragma", "user-agent"}
)
_OF_THE_BODY: Final = frozenset({"content-type", "content-language", "content-encoding"})


# Not frozen: that would cost half a microsecond a field, and most checks are made anew for each run.
@dataclass(slots=True)
class Request:
    """URL and message. *headers*: the configured ones, *data*: the whole message."""

    url: str
    method: str
    headers: Mapping[str, str]
    body: bytes | None
    version: Version
    verify: bool
    client: ClientCertificate | None
    endpoint: Endpoint
    data: bytes

    def follow(self, location: bytes, code: int) -> "Request":
        """The request after a redirect to *location*, as browsers do it."""
        old, new = urlsplit(self.url), _target(self.url, location)
        method, headers, body = self.method, self.headers, self.body
        if (code == 303 and method != "HEAD") or (code in {301, 302} and method == "POST"):
            method, body = "GET", None
            headers = {name: value for name, value in headers.items() if name.lower() not in _OF_THE_BODY}
        same = _origin(old) == _origin(new)
        if not same:
            headers = {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
        try:
            client = self.client if same else None
            return _build(
                new.geturl(), method, headers, body, self.version, verify=self.verify, client=client
            )
        except ValueError:
            raise TargetError("redirect: to an address that is none") from None


def request(kind: Http) -> Request:
    """The request of *kind*. Raises ValueError for an unusable URL."""
    body = None if kind.body is None else kind.body.encode()
    headers = dict(kind.headers)
    credentials = _authorization(kind.auth, urlsplit(kind.url))
    if credentials:
        headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        headers["Authorization"] = credentials
    client = None
    if kind.client_cert is not None and kind.client_key is not None:
        client = ClientCertificate(kind.client_cert, kind.client_key)
    version, verify = kind.ip_version, kind.verify_tls
    return _build(kind.url, kind.method, headers, body, version, verify=verify, client=client)


def _build(
    url: str,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    version: Version,
    *,
    verify: bool,
    client: ClientCertificate | None,
) -> Request:
    parts = urlsplit(url)
    port = parts.port or _PORTS[parts.scheme]
    tls = parts.scheme == "https"
    endpoint = Endpoint.of(parts.hostname or "", port, version=version, tls=tls, verify=verify, client=client)
    lines = {
        "Host": _host(parts),
        "User-Agent": f"Tocsin/{__version__}",
        "Accept": "*/*",
    }
    given = {name.lower() for name in headers}
    lines = {name: value for name, value in lines.items() if name.lower() not in given} | dict(headers)
    if body is not None or method in _WITH_LENGTH:
        lines["Content-Length"] = str(len(body or b""))
    lines["Connection"] = "close"
    head = f"{method} {_path(parts)} HTTP/1.1\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in lines.items()
    )
    data = head.encode("utf-8") + b"\r\n" + (body or b"")
    return Request(url, method, headers, body, version, verify, client, endpoint, data)


def _target(base: str, location: bytes) -> SplitResult:
    try:
        new = urlsplit(urljoin(base, location.decode("utf-8", "surrogateescape").strip()))
        known = new.scheme in _PORTS and bool(new.hostname) and new.port != 0
    except ValueError:
        raise TargetError("redirect: to an address that is none") from None
    if new.scheme and new.scheme not in _PORTS:
        raise TargetError("redirect: to an address that is not http or https")
    if not known:
        raise TargetError("redirect: to an address that is none")
    return new


def _origin(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]


def _host(parts: SplitResult) -> str:
    host = ascii_host(parts.hostname or "")
    shown = f"[{host}]" if ":" in host else host
    return shown if parts.port in {None, _PORTS[parts.scheme]} else f"{shown}:{parts.port}"


def _path(parts: SplitResult) -> str:
    asked = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return quote(asked, safe=_SAFE, errors="surrogateescape")


def _authorization(auth: Auth | None, parts: SplitResult) -> str:
    if auth is not None and auth.type == "bearer":
        return f"Bearer {auth.token}"
    if auth is not None:
        return _basic(auth.username, auth.password)
    if parts.username is not None:
        return _basic(unquote(parts.username), unquote(parts.password or ""))
    return ""


def _basic(username: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
