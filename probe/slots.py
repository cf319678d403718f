"""How much may run at once, and how much of it may be re-checks."""

from collections.abc import Callable
from typing import Final

# Checks that took longer than this last time count as slow.
SLOW_US: Final = 1_000_000

QUICK, SLOW, ASIDE = range(3)


class Slots:
    """Room for so many runs at once; a fifth of it is kept from slow ones, which so never stop the rest.

    Beside it there is room for runs that were taken for quick and stall: when many targets stall for the
    first time, they are set aside there, and the others go on.
    """

    __slots__ = ("_aside_free", "_free", "_slow_free")

    def __init__(self, most: int) -> None:
        self._free = most
        self._slow_free = self._aside_free = most - most // 5

    def take(self, *, slow: bool) -> bool:
        """Take one if there is one."""
        if self._free <= 0 or (slow and self._slow_free <= 0):
            return False
        self._free -= 1
        self._slow_free -= slow
        return True

    def set_aside(self) -> bool:
        """Let a quick one make room, if it can go aside."""
        if self._aside_free <= 0:
            return False
        self._aside_free -= 1
        self._free += 1
        return True

    def give(self, hold: int) -> None:
        """The end of one that was QUICK, SLOW or ASIDE."""
        if hold == ASIDE:
            self._aside_free += 1
        else:
            self._free += 1
            self._slow_free += hold == SLOW


class Budget:
    """A token bucket: so many a second, and what was saved up in ten seconds."""

    __slots__ = ("_now_us", "_rate", "_seen_us", "_tokens")

    def __init__(self, rate: float, now_us: Callable[[], int]) -> None:
        self._rate = rate
        self._tokens = rate * 10
        self._now_us = now_us
        self._seen_us = now_us()

    def take(self) -> bool:
        """Spend one if there is one."""
        now_us = self._now_us()
        gained = (now_us - self._seen_us) / 1_000_000 * self._rate
        self._seen_us = now_us
        self._tokens = min(self._tokens + gained, self._rate * 10)
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
