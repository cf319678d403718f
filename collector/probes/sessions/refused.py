"""Probes that are refused and call again: what is logged of each, and how often."""

import time
from collections.abc import Callable
from typing import Final

_AGAIN_S: Final = 600.0
_MOST: Final = 1_000


class Refusals:
    """Limits how often the same refusal of the same peer is logged."""

    __slots__ = ("_clock", "_said")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[tuple[str, str], tuple[float, int]] = {}

    def calls(self, who: str, why: str) -> int:
        """The number of calls to log now, this one included; 0 if the refusal was logged recently."""
        now = self._clock()
        until, untold = self._said.pop((who, why), (now, 0))
        due = now >= until
        self._said[who, why] = (now + _AGAIN_S, 0) if due else (until, untold + 1)
        if len(self._said) > _MOST:
            del self._said[next(iter(self._said))]  # the least recently added entry
        return untold + 1 if due else 0
