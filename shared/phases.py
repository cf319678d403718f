"""Encodes the phases of a check: varints of tenths of a millisecond plus one; 0 is "no such phase".

A sixth one tells how many days the certificate had left that was seen, where one was.
"""

from collections.abc import Iterable
from math import floor

from shared.results import Phases

MAX_BYTES = 24
_PHASES = 5
_MOST_DAYS = 3_000_000  # up to the year 9999


def pack(phases: Phases, days_left: float | None = None) -> bytes:
    """Five varints in the order dns, connect, tls, firstByte, transfer, then the whole days; absent ones at
    the end are left out. Days without any phase are nobody's: no certificate came that took no time.
    """
    us = (phases.dns_us, phases.connect_us, phases.tls_us, phases.first_byte_us, phases.transfer_us)
    packed = _varints(0 if one is None else (one + 50) // 100 + 1 for one in us)
    if days_left is None or not any(packed):
        return packed.rstrip(b"\0")
    days = min(max(floor(days_left), -_MOST_DAYS), _MOST_DAYS)
    return packed + _varints([2 * days + 1 if days >= 0 else -2 * days])


def unpack(packed: bytes) -> Phases:
    """The opposite; bytes that are no such thing give what could be read, never an error."""
    return Phases(*microseconds(packed))


def microseconds(packed: bytes) -> list[int | None]:
    """The same as its five values."""
    return measured(packed)[0]


def days_left(packed: bytes) -> int | None:
    """Of the certificate that was seen, negative once it was over; None where none was."""
    return measured(packed)[1]


def measured(packed: bytes) -> tuple[list[int | None], int | None]:
    """Both at once."""
    values: list[int | None] = []
    value = shift = 0
    for byte in packed[:MAX_BYTES]:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            if len(values) == _PHASES:
                return values, _days(value) if any(packed[:_PHASES]) else None
            values.append(None if value == 0 else (value - 1) * 100)
            value = shift = 0
    return [*values, None, None, None, None, None][:_PHASES], None


def _days(value: int) -> int | None:
    """Odd are those that are left, even those since the end."""
    half, good = divmod(value, 2)
    return half if good else -half or None


def _varints(values: Iterable[int]) -> bytes:
    out = bytearray()
    for value in values:
        left = value
        while left > 127:
            out.append(left & 127 | 128)
            left >>= 7
        out.append(left)
    return bytes(out)
