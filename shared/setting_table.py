"""Each setting: how it is parsed, its default and its help."""

import base64
import binascii
import ipaddress
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from shared import join_tokens
from shared.net import Network
from shared.tokens import PREFIX, checksum_ok

ParseResult = Callable[[str], Any]

_LOCATION: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_HOST: Final = re.compile(r"(?=.{1,253}$)(\*\.)?[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*")
# Python's own parser of senders differs between patch releases.
_SENDER: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^"<>,@]*)\s*<([^<>]*)>|([^"<>,]*)')
_KEY_BYTES: Final = 32
_TOKEN_LENGTH: Final = (16, 512)
_LEVELS: Final = ("debug", "info", "warning", "error")
# The value that disables canaries.
NO_CANARY: Final = "none"
# The demonstrations that a new database can be filled with.
DEMO_NONE: Final = "none"
DEMO_FEW: Final = "few"
DEMO_WORLD: Final = "world"
_PLANS: Final = ("free", "developer", "pro", "enterprise")


@dataclass(frozen=True, slots=True)
class Setting:
    """*read* parses a text, raising ValueError with the error; *usual*: the default's text, None for none."""

    read: ParseResult
    usual: str | Callable[[], str] | None
    help: str
    switch: bool = False

    def default(self) -> str | None:
        return self.usual() if callable(self.usual) else self.usual


def address(text: str) -> tuple[str, int]:
    """Host and port of ``host:port`` or ``[::1]:port``. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not colon or not bare or (":" in host and bare == host):
        raise ValueError("must be host:port")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError("its port must be a number up to 65535")
    return bare, int(port)


def show(value: Any) -> str:
    """The text from which a value can be parsed again."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(map(show, value))
    return str(value)


def _address(text: str) -> str:
    address(text)
    return text


def _canary(text: str) -> str:
    """Validate an address, or a host and a port."""
    if text.lower() == NO_CANARY:
        return NO_CANARY
    try:
        return str(ipaddress.ip_address(text.removeprefix("[").removesuffix("]")))
    except ValueError:
        host, port = address(text)
    try:
        ipaddress.ip_address(host)
    except ValueError:
        if not _HOST.fullmatch(host) or "*" in host:
            raise ValueError(f"must be IP addresses, host:port, or {NO_CANARY}") from None
    if port == 0:
        raise ValueError("a port must be from 1 to 65535")
    return text


def _integer(least: int, most: int) -> ParseResult:
    def read(text: str) -> int:
        if not re.fullmatch(r"[+-]?\d{1,18}", text) or not least <= int(text) <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(text)

    return read


def _one_of(*choices: str) -> ParseResult:
    def read(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return text.lower()

    return read


def _many(one: ParseResult) -> ParseResult:
    def read(text: str) -> tuple[Any, ...]:
        parts = tuple(one(part.strip()) for part in text.split(",") if part.strip())
        if not parts:
            raise ValueError("must name at least one")
        return tuple(dict.fromkeys(parts))

    return read


def _demo(text: str) -> str:
    """Which demonstration; as a plain switch, it is the small one."""
    if text.lower() in {DEMO_NONE, DEMO_FEW, DEMO_WORLD}:
        return text.lower()
    try:
        return DEMO_FEW if _flag(text) else DEMO_NONE
    except ValueError:
        raise ValueError("must be none, few or world") from None


def _flag(text: str) -> bool:
    if text.lower() not in {"true", "false", "1", "0", "yes", "no", "on", "off"}:
        raise ValueError("must be true or false")
    return text.lower() in {"true", "1", "yes", "on"}


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("must be an http or https URL without query")
    return text.rstrip("/")


def _database_url(text: str) -> str:
    if urlsplit(text).scheme not in {"postgresql", "postgres"}:
        raise ValueError("must be like postgresql://user:password@host:5432/name")
    return text


def _location(text: str) -> str:
    if not _LOCATION.fullmatch(text):
        raise ValueError("a location has 1 to 63 of a-z, 0-9 and -, and does not begin with -")
    return text


def _host(text: str) -> str:
    bare = text.removeprefix("[").removesuffix("]")
    if _HOST.fullmatch(bare):
        return bare
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        raise ValueError("must be names of hosts or addresses, without a port") from None


def _join_token(text: str) -> str:
    join_tokens.read(text)
    return text


def _email(text: str) -> str:
    name, at, host = text.partition("@")
    if not name or not at or not host or "@" in host or any(letter.isspace() for letter in text):
        raise ValueError("must be like name@host")
    return text


def _token(text: str) -> str:
    least, most = _TOKEN_LENGTH
    if not least <= len(text) <= most:
        raise ValueError(f"must have {least} characters or more, and at most {most}")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("must be of printable ASCII characters without spaces")
    if text.startswith(PREFIX) and not checksum_ok(text):
        raise ValueError(f"begins with {PREFIX} and has a bad checksum; was it cut?")
    return text


def _keys(text: str) -> str:
    parts = [part for part in map(str.strip, text.split(",")) if part]
    if not parts:
        raise ValueError("must name at least one key")
    for part in parts:
        try:
            raw = base64.b64decode(part.replace("-", "+").replace("_", "/") + "==")
        except binascii.Error:
            raw = b""
        if len(raw) != _KEY_BYTES:
            raise ValueError("each key must be 32 bytes in base64")
    return text


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError(
            "must be addresses or networks, as 10.0.0.0/8, without bits set beyond the prefix"
        ) from None


def _origins(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_origin(part.strip()) for part in text.split(",") if part.strip()))


def _origin(text: str) -> str:
    """Normalize an origin as browsers do: in lower case, without the default port."""
    fault = "must be origins, as https://app.example.com: a scheme, a host, a port, and no path"
    try:
        parts = urlsplit(text.lower().removesuffix("/"))
        port = parts.port
    except ValueError:
        raise ValueError(fault) from None
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    bare = parts._replace(scheme="", netloc="").geturl()
    if usual is None or not parts.hostname or "@" in parts.netloc or bare or port == 0:
        raise ValueError(fault)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in {None, usual} else "")


def _rpc_urls(text: str) -> str:
    from shared import rpc_urls  # noqa: PLC0415 - imports all kinds, for a rare setting

    rpc_urls.parse(text)
    return text


def _web_url(text: str) -> str:
    if not _is_web_url(text):
        raise ValueError("must be an http or https URL")
    return text


def _smtp_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in {"smtp", "smtps"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the original error quotes the URL, which may contain a password
        sound = False
    if not sound or any(map(str.isspace, text)):
        raise ValueError(
            "must be like smtp://user:password@host:587?starttls=1; encode what is special in it"
        )
    return text


def _mail_from(text: str) -> str:
    _email(mail_address(text))
    return text


def mail_address(sender: str) -> str:
    """The address of ``name@host`` or ``Name <name@host>``. Raises ValueError."""
    match = _SENDER.fullmatch(sender.strip())
    if match is None or not sender.isprintable():
        raise ValueError("must be like alerts@example.com, or Tocsin <alerts@example.com>")
    return match[1] or match[2] or ""


def _is_web_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the original error may quote a secret
        return False


def _log_format() -> str:
    return "console" if sys.stderr.isatty() else "json"


TABLE: Final[Mapping[str, Setting]] = {
    "data_dir": Setting(Path, "./var", "embedded database, keys and admin-token; on a probe its spool"),
    "database_url": Setting(_database_url, None, "PostgreSQL 15 or newer; without it an embedded one"),
    "http_listen": Setting(_address, "127.0.0.1:8080", "address of the API and the console"),
    "grpc_listen": Setting(_address, "127.0.0.1:7070", "address that probes connect to"),
    "grpc_names": Setting(_many(_host), None, "host names in its certificate, besides this machine's"),
    "otlp_listen": Setting(_address, "127.0.0.1:4317", "address of OTLP over gRPC"),
    "public_url": Setting(_url, None, "base of every link; by default http:// and the address"),
    "hosts": Setting(_many(_host), None, "further names of the service, which status pages cannot use"),
    "bootstrap_token": Setting(_token, None, "first admin token of a new database"),
    "admin_email": Setting(_email, "admin@localhost", "mail address of the first user"),
    "secret_key": Setting(_keys, None, "encrypts secrets at rest; the first of a list encrypts, all decrypt"),
    "plan": Setting(_one_of(*_PLANS), "pro", "the first team's plan: free, developer, pro or enterprise"),
    "rate_per_minute": Setting(_integer(1, 10**9), None, "enterprise plan: requests per minute"),
    "burst": Setting(
        _integer(1, 10**9), None, "enterprise plan: burst of requests; by default twice the rate"
    ),
    "max_monitors": Setting(_integer(1, 10**9), None, "enterprise plan: monitors per team"),
    "max_channels": Setting(_integer(1, 10**6), None, "enterprise plan: alert channels per team"),
    "max_streams": Setting(_integer(1, 10**6), None, "enterprise plan: event streams per team"),
    "mails_per_hour": Setting(_integer(1, 10**9), None, "enterprise plan: mails per team and hour"),
    "trusted_proxies": Setting(_networks, "", "networks whose X-Forwarded-For and -Proto are trusted"),
    "cors_origins": Setting(_origins, "", "origins whose scripts may call /v1, as https://app.example.com"),
    "rpc_urls": Setting(_rpc_urls, None, "Web3 nodes by chain: ethereum=https://...;polygon=..."),
    "smtp_url": Setting(_smtp_url, None, "mail server: smtp://user:password@host:587?starttls=1"),
    "mail_from": Setting(_mail_from, None, "sender of mails, like Tocsin <alerts@example.com>"),
    "confirm_addresses": Setting(
        _flag, "false", "mail addresses outside the team must confirm once", switch=True
    ),
    "oidc_issuer": Setting(_web_url, None, "OpenID Connect: URL of the provider"),
    "oidc_client_id": Setting(str, None, "OpenID Connect: client id"),
    "oidc_client_secret": Setting(str, None, "OpenID Connect: client secret, unless the client is public"),
    "oidc_name": Setting(str, "single sign-on", "OpenID Connect: provider's name on the sign-in page"),
    "deadman_url": Setting(_web_url, None, "URL that is pinged every minute while all is well"),
    "allow_private_targets": Setting(_flag, "true", "allow targets with private addresses", switch=True),
    "retention_days": Setting(_integer(1, 36500), "400", "days to keep results"),
    "rollup_retention_days": Setting(_integer(1, 36500), "1095", "days to keep hourly and daily rollups"),
    "min_interval": Setting(_integer(1, 86400), "1", "shortest interval of a monitor in seconds"),
    "workers": Setting(_integer(1, 256), "1", "processes of this role on this machine"),
    "demo": Setting(
        _demo, DEMO_NONE, "fill a new database: few monitors, or a world of 300 with history", switch=True
    ),
    "collector": Setting(_many(_address), "127.0.0.1:7070", "collectors that a probe connects to"),
    "join_token": Setting(_join_token, None, "token for a probe's first certificate"),
    "location": Setting(_location, None, "location of the probe; by default that of its certificate"),
    "locations": Setting(_many(_location), None, "locations of the built-in probe"),
    "stand_in": Setting(_flag, "false", "also serve locations without a probe", switch=True),
    "max_concurrency": Setting(
        _integer(1, 100_000), "1000", "concurrent checks; up to 1.8 times that while many stall"
    ),
    "canaries": Setting(
        _many(_canary),
        None,
        "hosts that prove a probe's connectivity: addresses, host:port, or none; default: resolvers, gateway",
    ),
    "metrics_listen": Setting(_address, None, "address of a probe's GET /metrics"),
    "url": Setting(_url, None, "service whose API is used; without it, apply and export use the database"),
    "token": Setting(_token, None, "API token for that service"),
    "log_format": Setting(_one_of("console", "json"), _log_format, "console or json; console on a terminal"),
    "log_level": Setting(_one_of(*_LEVELS), "info", "lowest level to log: debug, info, warning or error"),
}
