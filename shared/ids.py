"""Public identifiers: a prefix, an underscore, and a UUIDv7 in lower-case Crockford base32."""

import re
import secrets
import time
from typing import Final
from uuid import UUID

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
# By two digits: half as many steps.
_PAIRS: Final = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS: Final = range(120, -1, -10)
_DIGITS: Final = re.compile(f"[0-7][{_ALPHABET}]{{25}}")
# To the digits with which Python reads numbers to the base 32.
_TO_BASE_32: Final = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")


def uuid7(now_ms: int | None = None) -> UUID:
    """A new UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then random bits, so that ids sort by time."""
    ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    chance = secrets.randbits(74)
    return UUID(int=ms << 80 | 0x7 << 76 | (chance >> 62) << 64 | 0b10 << 62 | chance & (1 << 62) - 1)


def show(prefix: str, value: UUID) -> str:
    """``mon``, a UUID -> ``mon_01jd...``; 26 characters follow the underscore."""
    number = value.int
    return prefix + "_" + "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


def read(prefix: str, text: str) -> UUID | None:
    """Parse an id; None if *text* is not an id with this prefix."""
    head, _, digits = text.partition("_")
    if head != prefix or _DIGITS.fullmatch(digits) is None:
        return None
    return UUID(int=int(digits.translate(_TO_BASE_32), 32))
