"""Encodes the phases of a check: varints of tenths of a millisecond plus one; 0 is "no such phase".

An optional sixth one is the number of days until the certificate expires.
"""

from functools import lru_cache
from math import floor

from shared.results import Phases

MAX_BYTES = 24
_PHASES = 5
_MOST_DAYS = 3_000_000  # up to the year 9999


def pack(phases: Phases, days_left: float | None = None) -> bytes:
    """Five varints in the order dns, connect, tls, firstByte, transfer, then the whole days; trailing absent
    ones are left out. Days without any phase are dropped: every certificate takes time to arrive.
    """
    durations = (phases.dns_us, phases.connect_us, phases.tls_us, phases.first_byte_us, phases.transfer_us)
    # Runs once per result: a list that is joined takes half as long as a generator of varints.
    packed = b"".join([b"\0" if us is None else _varint((us + 50) // 100 + 1) for us in durations])
    if days_left is None or not any(packed):
        return packed.rstrip(b"\0")
    days = min(max(floor(days_left), -_MOST_DAYS), _MOST_DAYS)
    return packed + _varint(2 * days + 1 if days >= 0 else -2 * days)


def unpack(packed: bytes) -> Phases:
    """The inverse; invalid bytes yield what could be decoded, never an error."""
    return Phases(*microseconds(packed))


def microseconds(packed: bytes) -> list[int | None]:
    """The five phases in microseconds."""
    return measured(packed)[0]


def days_left(packed: bytes) -> int | None:
    """Days until the certificate's expiry, negative afterwards; None without a certificate."""
    return measured(packed)[1]


def measured(packed: bytes) -> tuple[list[int | None], int | None]:
    """Both at once: phases and days."""
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
    """Decode days: odd values are days left, even ones days since expiry."""
    half, good = divmod(value, 2)
    return half if good else -half or None


# Durations of a target repeat, to a tenth of a millisecond.
@lru_cache(1_024)
def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
