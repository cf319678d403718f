"""A rate limit: so many per second, and a burst."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

# Above this number, keys that are no longer limited are dropped.
_REMEMBERED: Final = 50_000


@dataclass(frozen=True, slots=True)
class PaceLimit:
    """*per_second* on average, with bursts of *burst*."""

    per_second: float
    burst: int

    @property
    def apart_s(self) -> float:
        return 1 / self.per_second

    @property
    def most_s(self) -> float:
        """How many seconds ahead of the rate a caller may be; the half step absorbs rounding."""
        return (self.burst - 0.5) / self.per_second


def step(ahead_s: float, rate: PaceLimit) -> float | None:
    """The new lead over the rate of a caller that was *ahead_s* and comes now; None if it is rejected.

    A lead of more than twice the maximum means that the clock was set back; it is ignored.
    """
    if rate.most_s < ahead_s <= 2 * rate.most_s:
        return None
    return rate.apart_s + (ahead_s if 0 < ahead_s <= rate.most_s else 0.0)


class PaceLimiter:
    """Limits each key to *per_second*, with bursts of *burst*; times are seconds on one monotonic clock."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._rate = PaceLimit(per_second, burst)
        self._due: dict[Hashable, float] = {}

    def admit(self, key: Hashable, now_s: float) -> bool:
        """Whether *key* is admitted now; if so, count it."""
        due = max(self._due.get(key, now_s), now_s)
        if due - now_s > self._rate.most_s:
            return False
        if key not in self._due and len(self._due) >= _REMEMBERED:
            self._due = {other: at for other, at in self._due.items() if at > now_s}
        self._due[key] = due + self._rate.apart_s
        return True
