"""Public identifiers: a prefix, an underscore, and a UUIDv7 in lower-case Crockford base32."""

import secrets
import time
from typing import Final
from uuid import UUID

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_VALUE: Final = {letter: value for value, letter in enumerate(_ALPHABET)}
_LENGTH: Final = 26


def uuid7(now_ms: int | None = None) -> UUID:
    """A new UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then random bits, so that ids sort by time."""
    ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    chance = secrets.randbits(74)
    return UUID(int=ms << 80 | 0x7 << 76 | (chance >> 62) << 64 | 0b10 << 62 | chance & (1 << 62) - 1)


def show(prefix: str, value: UUID) -> str:
    """``mon``, a UUID -> ``mon_01jd...``; 26 characters follow the underscore."""
    number = value.int
    return prefix + "_" + "".join([_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5)])


def read(prefix: str, text: str) -> UUID | None:
    """Parse an id; None if *text* is not an id with this prefix."""
    head, _, digits = text.partition("_")
    if head != prefix or len(digits) != _LENGTH or digits[0] > "7":
        return None
    number = 0
    for digit in digits:
        value = _VALUE.get(digit)
        if value is None:
            return None
        number = number << 5 | value
    return UUID(int=number)
