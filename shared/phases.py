"""The phases of a check in a few bytes: varints of tenths of a millisecond plus one; 0 is "no such phase"."""

from shared.results import Phases

MAX_BYTES = 24


def pack(phases: Phases) -> bytes:
    """Five varints in the order dns, connect, tls, firstByte, transfer; trailing absent ones are left out."""
    out = bytearray()
    for us in (
        phases.dns_us,
        phases.connect_us,
        phases.tls_us,
        phases.first_byte_us,
        phases.transfer_us,
    ):
        value = 0 if us is None else (us + 50) // 100 + 1
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out).rstrip(b"\0")


def unpack(packed: bytes) -> Phases:
    """The opposite; bytes that are no such thing give what could be read, never an error."""
    return Phases(*microseconds(packed))


def microseconds(packed: bytes) -> list[int | None]:
    """The same as its five values."""
    values: list[int | None] = []
    value = shift = 0
    for byte in packed[:MAX_BYTES]:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(None if value == 0 else (value - 1) * 100)
            value = shift = 0
    return [*values, None, None, None, None, None][:5]
