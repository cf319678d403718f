"""Marks and checks that several kinds share."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen, MinLen, Predicate

_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
MAX_HOST = 253


@dataclass(frozen=True, slots=True)
class Secret:
    """Marks a field that is encrypted at rest and masked for read-only callers."""


@dataclass(frozen=True, slots=True)
class HidesPassword:
    """Marks a URL that is open but for its password, which is encrypted at rest and masked."""


@dataclass(frozen=True, slots=True)
class Says:
    """The words for the caller when the predicate beside it says no."""

    text: str


@dataclass(frozen=True, slots=True)
class NumericText:
    """Marks a number that may also come as text, ``"5432"``."""


def camel(name: str) -> str:
    """``expected_status`` -> ``expectedStatus``."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def is_host(text: str) -> bool:
    """Is it an IP address or a host name that can be looked up (IDNA names in their ASCII form)?"""
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        try:
            ascii_name = text.encode("idna").decode() if not text.isascii() else text
        except UnicodeError:
            return False
        name = ascii_name.removesuffix(".")
        return 0 < len(name) <= MAX_HOST and all(_LABEL.fullmatch(part) for part in name.split("."))
    return True


HostName = Annotated[
    str,
    MinLen(1),
    MaxLen(MAX_HOST + 2),
    Predicate(is_host),
    Says("must be a host name or an IP address"),
]
