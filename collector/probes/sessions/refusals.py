"""Limits how often the refusal of a probe that calls again is logged."""

import time
from typing import Final

from shared.clock import SecondClock

_AGAIN_S: Final = 600.0
_MOST: Final = 1_000


class Refusals:
    """Limits how often the same refusal of the same peer is logged."""

    __slots__ = ("_clock", "_logged")

    def __init__(self, clock: SecondClock = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[tuple[str, str], tuple[float, int]] = {}

    def calls(self, peer: str, reason: str) -> int:
        """The number of calls to log now, this one included; 0 if the refusal was logged recently."""
        now = self._clock()
        until, unlogged = self._logged.pop((peer, reason), (now, 0))
        due = now >= until
        self._logged[peer, reason] = (now + _AGAIN_S, 0) if due else (until, unlogged + 1)
        if len(self._logged) > _MOST:
            del self._logged[next(iter(self._logged))]  # the least recently added entry
        return unlogged + 1 if due else 0
