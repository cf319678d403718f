"""Annotations and validators that several kinds share."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from annotated_types import Interval, MaxLen, MinLen, Predicate

_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
# Of addresses only: IPv4 without brackets is made of labels.
_NO_LABEL = frozenset(":[]")
MAX_HOST = 253


@dataclass(frozen=True, slots=True)
class Secret:
    """Marks a field that is encrypted at rest and masked for read-only callers."""


@dataclass(frozen=True, slots=True)
class HidesSecrets:
    """Marks a URL that is readable except for its `shared.url_secrets`, which are encrypted and masked."""


@dataclass(frozen=True, slots=True)
class ErrorText:
    """The error text for values that the preceding predicate rejects; *of*: only for such values."""

    text: str
    of: Callable[[Any], bool] | None = None


@dataclass(frozen=True, slots=True)
class DroppedEntries:
    """Marks an object whose entries of these *names* (lower case) are dropped; *why*: the warning's text."""

    names: frozenset[str]
    why: str


@dataclass(frozen=True, slots=True)
class NumericText:
    """Marks a number that may also be sent as text, ``"5432"``."""


@dataclass(frozen=True, slots=True)
class JsonText:
    """Marks a text that may also be sent as a JSON object or list."""


@cache
def camel(name: str) -> str:
    """``expected_status`` -> ``expectedStatus``."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def is_host(text: str) -> bool:
    """Whether it is an IP address or a resolvable host name (IDNA names in ASCII form)."""
    if not _NO_LABEL.isdisjoint(text):
        return _is_address(text.strip("[]"))
    try:
        ascii_name = text.encode("idna").decode() if not text.isascii() else text
    except UnicodeError:
        return False
    name = ascii_name.removesuffix(".")
    return 0 < len(name) <= MAX_HOST and all(_LABEL.fullmatch(part) for part in name.split("."))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


HostName = Annotated[
    str,
    MinLen(1),
    MaxLen(MAX_HOST + 2),
    Predicate(is_host),
    ErrorText("must be a host name or an IP address"),
]

Port = Annotated[int, Interval(ge=1, le=65_535), NumericText()]


def host_and_port(text: str, default: int) -> tuple[str, int]:
    """``example.com``, ``example.com:8443``, ``[::1]:53``, ``::1`` or a URL -> host without brackets, port.

    Raises ValueError for anything else.
    """
    bare = text.count(":") > 1 and not text.startswith("[") and "://" not in text
    if any(letter.isspace() for letter in text):
        msg = f"no host: {text!r}"
        raise ValueError(msg)
    parts = urlsplit(text if "://" in text else f"//[{text}]" if bare else f"//{text}")
    host, port = parts.hostname or "", parts.port
    if not is_host(host) or port == 0:
        msg = f"no host: {text!r}"
        raise ValueError(msg)
    return host, default if port is None else port


def is_host_and_port(text: str) -> bool:
    """Whether it is exactly a host, with or without a port."""
    return "/" not in text and "@" not in text and "?" not in text and "#" not in text and _reads(text)


def is_place(text: str) -> bool:
    """Whether it is a host, with or without a port, or a URL."""
    return _reads(text) and "@" not in text


def _reads(text: str) -> bool:
    try:
        host_and_port(text, 1)
    except ValueError:
        return False
    return True


Security = Literal["none", "starttls", "tls"]


def is_plain(text: str) -> bool:
    """Whether it is free of line breaks and NULs, which would end a command."""
    return not any(letter in text for letter in "\r\n\0")


_NO_BREAKS = ErrorText("must be without line breaks")

Username = Annotated[str, MaxLen(256), Predicate(is_plain), _NO_BREAKS]
Password = Annotated[str, MaxLen(1024), Predicate(is_plain), _NO_BREAKS, Secret()]


def login_faults(username: str, password: str) -> dict[str, str]:
    """A password requires a user name."""
    return {"username": "Username is required"} if password and not username else {}
