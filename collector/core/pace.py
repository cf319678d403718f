"""How often each of many may come: so many a second, and some at once after a rest."""

from collections.abc import Hashable
from typing import Final

# Beyond so many those are forgotten that have rested for long enough.
_REMEMBERED: Final = 50_000


class Pace:
    """*per_second* for each key, *burst* at once; all times are seconds on one monotonic clock."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._apart_s = 1 / per_second
        self._ahead_s = burst / per_second
        self._due: dict[Hashable, float] = {}

    def admit(self, key: Hashable, now_s: float) -> bool:
        """May it come now? If so, it has."""
        due = max(self._due.get(key, now_s), now_s) + self._apart_s
        if due - now_s > self._ahead_s + self._apart_s / 2:
            return False
        if key not in self._due and len(self._due) >= _REMEMBERED:
            self._due = {other: at for other, at in self._due.items() if at > now_s}
        self._due[key] = due
        return True
