"""What received metrics, or their absence, mean for a monitor."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

# A check has five phases here; a received sample has none of them, and a count.
_NO_PHASES: Final = bytes(5)


@dataclass(frozen=True, slots=True)
class ReceptionResult:
    """The result to record; *error* is empty when all is well, *samples* matched since the last result."""

    monitor: int
    at: datetime
    error: str
    samples: int


def silent(stale_after_s: int) -> str:
    """Return the error of a monitor that receives no samples."""
    return f"no matching sample came within {stale_after_s} s"


def packed(samples: int) -> bytes:
    """Encode how many samples matched, to store beside the result."""
    digits = bytearray(_NO_PHASES)
    while samples > 0x7F:
        digits.append(samples & 0x7F | 0x80)
        samples >>= 7
    digits.append(samples)
    return bytes(digits)


def samples(phases: bytes) -> int | None:
    """Decode the number of samples; None for a result without metrics."""
    head, digits = phases[:5], phases[5:]
    if head != _NO_PHASES or not digits:
        return None
    return sum((digit & 0x7F) << 7 * place for place, digit in enumerate(digits))
