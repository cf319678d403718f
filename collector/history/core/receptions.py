"""What received metrics, or their absence, mean for a monitor."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

# Where a check has its five phases, what came without one has none of them, and a count.
_NO_PHASES: Final = bytes(5)


@dataclass(frozen=True, slots=True)
class ReceptionResult:
    """What is recorded; *error* is empty when all is well, *samples* matched since the last result."""

    monitor: int
    at: datetime
    error: str
    samples: int


def silent(stale_after_s: int) -> str:
    """Why a monitor fails that nothing comes for."""
    return f"no matching sample came within {stale_after_s} s"


def packed(samples: int) -> bytes:
    """How many samples matched, as it is stored beside the result."""
    digits = bytearray(_NO_PHASES)
    while samples > 0x7F:
        digits.append(samples & 0x7F | 0x80)
        samples >>= 7
    digits.append(samples)
    return bytes(digits)


def samples(phases: bytes) -> int | None:
    """The opposite; None for a result that is not of metrics."""
    head, digits = phases[:5], phases[5:]
    if head != _NO_PHASES or not digits:
        return None
    return sum((digit & 0x7F) << 7 * place for place, digit in enumerate(digits))
