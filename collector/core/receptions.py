"""What the metrics that came for a monitor, or did not, say of it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Found:
    """What is recorded; *error* is empty when all is well, *samples* matched since the last result."""

    monitor: int
    at: datetime
    error: str
    samples: int


def silent(stale_after_s: int) -> str:
    """Why a monitor fails that nothing comes for."""
    return f"no matching sample came within {stale_after_s} s"
