"""Limits on concurrent checks, and on re-checks among them."""

from collections import defaultdict
from typing import Final

from shared.clock import MicrosecondClock

# Checks that took longer than this last time count as slow.
SLOW_US: Final = 1_000_000

QUICK, SLOW, ASIDE = range(3)


class Slots:
    """Slots for concurrent runs; a fifth of them is closed to slow ones, which so never block the rest.

    There are additional slots for runs that were expected to be quick and stall: when many targets stall for
    the first time, their runs move there, and the others continue.

    While the slots are *divided*, a team never holds more of any kind than it leaves free: a single team gets
    half of them, two get a third each, and another team always finds some.
    """

    __slots__ = ("_aside_free", "_aside_of", "_free", "_held_by", "_slow_free", "_slow_of", "divided")

    def __init__(self, most: int) -> None:
        self._free = most
        self._slow_free = self._aside_free = most - most // 5
        self._held_by: defaultdict[int, int] = defaultdict(int)
        self._slow_of: defaultdict[int, int] = defaultdict(int)
        self._aside_of: defaultdict[int, int] = defaultdict(int)
        self.divided = False

    @property
    def full(self) -> bool:
        return self._free <= 0

    def take(self, team: int, *, slow: bool) -> bool:
        """Take a slot for *team*; return whether there was one."""
        if self._free <= 0 or (slow and self._slow_free <= 0):
            return False
        if self.divided and (
            self._held_by[team] >= self._free or (slow and self._slow_of[team] >= self._slow_free)
        ):
            return False
        self._free -= 1
        self._held_by[team] += 1
        if slow:
            self._slow_free -= 1
            self._slow_of[team] += 1
        return True

    def set_aside(self, team: int) -> bool:
        """Move a quick run to an additional slot; return whether there was one."""
        if self._aside_free <= 0 or (self.divided and self._aside_of[team] >= self._aside_free):
            return False
        self._aside_free -= 1
        self._aside_of[team] += 1
        self._free += 1
        self._held_by[team] -= 1
        return True

    def give(self, team: int, hold: int) -> None:
        """Return the slot of a run that was QUICK, SLOW or ASIDE."""
        if hold == ASIDE:
            self._aside_free += 1
            self._aside_of[team] -= 1
            return
        self._free += 1
        self._held_by[team] -= 1
        if hold == SLOW:
            self._slow_free += 1
            self._slow_of[team] -= 1


class Budget:
    """A token bucket that holds the tokens of ten seconds."""

    __slots__ = ("_now_us", "_rate", "_seen_us", "_tokens")

    def __init__(self, rate: float, now_us: MicrosecondClock) -> None:
        self._rate = rate
        self._tokens = rate * 10
        self._now_us = now_us
        self._seen_us = now_us()

    def take(self) -> bool:
        """Take a token; return whether there was one."""
        now_us = self._now_us()
        gained = (now_us - self._seen_us) / 1_000_000 * self._rate
        self._seen_us = now_us
        self._tokens = min(self._tokens + gained, self._rate * 10)
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
