"""Does an HTTP or HTTPS endpoint answer as it should?"""

import re
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from annotated_types import Interval, MaxLen, MinLen, Predicate

from shared.assertions import Assertion
from shared.client_certificate import chain_fault, key_fault
from shared.kinds.fields import DroppedEntries, ErrorText, HidesSecrets, JsonText, Secret, is_host

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
HttpVersion = Literal["1.1", "2", "3"]

_BLANK = re.compile(r"[\x00-\x20\x7f]")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_RANGE = re.compile(r"([1-5][0-9]{2})(?:\s*-\s*([1-5][0-9]{2}))?")
# Headers that frame the message or belong to the connection: only the probe sets them.
FRAMING: Final = frozenset({"connection", "content-length", "transfer-encoding", "te", "upgrade"})

# Default ports of proxies.
PROXY_PORTS: Final = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
# SOCKS stores the length of user name and password in one byte each.
_MOST_CREDENTIAL: Final = 255


def is_url(text: str) -> bool:
    """Whether it is an http(s) URL with a resolvable host and a valid port, without blanks and controls."""
    if _has_blanks(text):
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and is_host(parts.hostname or "") and port != 0


def is_proxy(text: str) -> bool:
    """Whether it is a proxy URL: a scheme of `PROXY_PORTS`, a host, at most user and port besides."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in PROXY_PORTS and is_host(parts.hostname or "") and parts.port != 0
    except ValueError:
        return False
    more = parts.path not in {"", "/"} or "?" in text or "#" in text
    return known and not more and not _has_blanks(text) and all(map(_is_credential, _credentials(parts)))


def _credentials(parts: SplitResult) -> tuple[str, str]:
    return unquote(parts.username or ""), unquote(parts.password or "")


def _is_credential(text: str) -> bool:
    return text.isprintable() and len(text.encode()) <= _MOST_CREDENTIAL


def _has_blanks(text: str) -> bool:
    return _BLANK.search(text) is not None


def are_headers(headers: dict[str, str]) -> bool:
    """Whether all names are tokens, and values contain no line break or NUL."""
    return all(
        _HEADER_NAME.fullmatch(name) and not any(letter in value for letter in "\r\n\0")
        for name, value in headers.items()
    )


def status_ranges(spec: "int | str | list[int | str] | None") -> tuple[tuple[int, int], ...]:
    """``503``, ``"200-299"``, ``[200, "300-308"]`` -> pairs of first and last; None is any 2xx.

    Raises ValueError for anything else.
    """
    if spec is None:
        return ((200, 299),)
    if isinstance(spec, list):
        return tuple(pair for part in spec for pair in status_ranges(part))
    match = _RANGE.fullmatch(str(spec).strip())
    if match is None:
        msg = f"not a status or a range of them: {spec!r}"
        raise ValueError(msg)
    first, last = int(match[1]), int(match[2] or match[1])
    if first > last:
        msg = f"a range that ends before it starts: {spec!r}"
        raise ValueError(msg)
    return ((first, last),)


def _is_status(spec: int | str) -> bool:
    try:
        return bool(status_ranges(spec))
    except ValueError:
        return False


Headers = Annotated[
    dict[str, str],
    MaxLen(100),
    Predicate(are_headers),
    ErrorText("names must be header names, values without line breaks"),
    DroppedEntries(FRAMING, "the probe frames the request itself"),
    Secret(),
]

ExpectedStatus = Annotated[
    int | str,
    Predicate(_is_status),
    ErrorText('must be a status (200), a range ("200-299"), or a list of those'),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """*basic* uses username and password, *bearer* a token."""

    type: Literal["basic", "bearer"]
    """Scheme: `basic` takes `username` and `password`, `bearer` takes `token`."""
    username: Annotated[str, MaxLen(1024), Secret()] = ""
    """User name of `basic`. A secret: masked for read-only tokens."""
    password: Annotated[str, MaxLen(4096), Secret()] = ""
    """Password of `basic`. A secret: masked for read-only tokens."""
    token: Annotated[str, MaxLen(8192), Secret()] = ""
    """Token of `bearer`. A secret: masked for read-only tokens."""

    def faults(self) -> dict[str, str]:
        """The missing fields of the chosen type."""
        needed = "token" if self.type == "bearer" else "username"
        return {} if getattr(self, needed) else {needed: f"{needed.capitalize()} is required"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """*timeout* (whole seconds) overrides the monitor's; *max_body_bytes*: limit of the body that is read."""

    url: Annotated[
        str,
        MinLen(1),
        MaxLen(8192),
        Predicate(is_url),
        ErrorText("must be an http or https URL"),
        HidesSecrets(),
    ]
    """URL with the scheme `http` or `https`; secrets in it are masked for read-only tokens."""
    method: Method = "GET"
    """Method of the request."""
    headers: Headers = field(default_factory=dict)
    """Headers that are sent, by name. Secret: their values are masked for read-only tokens."""
    body: Annotated[str | None, MaxLen(262_144), Secret(), JsonText()] = None
    """Body of the request, as text or as JSON. A secret: masked for read-only tokens."""
    expected_status: ExpectedStatus | Annotated[list[ExpectedStatus], MinLen(1), MaxLen(100)] | None = None
    """Status, range such as `200-299`, or a list of both, that counts as up; by default any 2xx."""
    timeout: Annotated[int | None, Interval(ge=1, le=120)] = None
    """Timeout of the check in seconds; sets the monitor's `timeout`."""
    follow_redirects: bool = True
    """Whether redirects are followed."""
    verify_tls: bool = True
    """Whether the server's certificate must be valid for its name."""
    ip_version: Literal["4", "6", "any"] = "any"
    """IP version of the connection; `any` uses whichever answers."""
    auth: Annotated[Auth | None, Secret()] = None
    """Credentials that are sent with the request."""
    client_cert: Annotated[str | None, MaxLen(65_536), Secret()] = None
    """Certificate chain in PEM that is shown to the server; needs `clientKey`. A secret: masked for read-only
    tokens.
    """
    client_key: Annotated[str | None, MaxLen(16_384), Secret()] = None
    """Private key in PEM of `clientCert`. A secret: masked for read-only tokens."""
    assertions: Annotated[list[Assertion], MaxLen(50)] = field(default_factory=list)
    """Conditions that the response must meet in addition to its status."""
    max_body_bytes: Annotated[int, Interval(ge=0, le=16_777_216)] = 1_048_576
    """Bytes of the body that are read at most."""
    http_version: HttpVersion = "1.1"
    """HTTP version that is asked for; a server that answers in another one is down."""
    proxy: Annotated[
        str | None,
        MaxLen(2048),
        Predicate(lambda text: not text or is_proxy(text)),
        ErrorText("must be the URL of a proxy: http, https, socks5 or socks5h, a host, a port"),
        HidesSecrets(),
    ] = None
    """URL of a proxy (`http`, `https`, `socks5`, `socks5h`); secrets in it are masked for read-only tokens.
    """

    def faults(self) -> dict[str, str]:
        """Errors of combinations: client certificate and key, HTTP version and proxy."""
        return self._client_faults() | self.way_faults()

    def way_faults(self) -> dict[str, str]:
        """Whether HTTP version, proxy and URL are compatible."""
        if self.http_version == "3" and self.proxy:
            return {"proxy": "cannot be used with HTTP/3"}
        if self.http_version == "3" and urlsplit(self.url).scheme != "https":
            return {"httpVersion": "3 needs an https URL"}
        return {}

    def _client_faults(self) -> dict[str, str]:
        if self.client_cert is None or self.client_key is None:
            if self.client_cert is None and self.client_key is None:
                return {}
            return {"clientKey" if self.client_key is None else "clientCert": "is required beside the other"}
        chain = chain_fault(self.client_cert)
        if chain:
            return {"clientCert": chain}
        key = key_fault(self.client_cert, self.client_key)
        return {"clientKey": key} if key else {}
