"""Which checks are lost: by their number where they are scheduled, by their moment where they are not."""

import math
import random

from shared.schedule import mix

_ALL = 2**64


class Losses:
    """Of one monitor at one place. The gaps between losses are geometric: each check has the same chance."""

    __slots__ = ("_chance", "_log", "_mark", "_share", "next")

    def __init__(self, seed: int, monitor: int, place: int, share: float) -> None:
        """*next*: the number of the next scheduled check that is lost."""
        self._chance = random.Random(f"losses {seed} {monitor} {place}")
        self._log = math.log1p(-share) if share else 0.0
        self._share = int(share * _ALL)
        self._mark = mix(mix(seed) ^ (monitor * 8 + place))
        self.next = -1
        self.move(-1)

    def move(self, number: int) -> None:
        """Go on to the first loss after the check with this *number*."""
        while self.next <= number:
            self.next += 1 + self._gap()

    def extra(self, start: int) -> bool:
        """Is a re-check or a second opinion lost that starts then?"""
        return mix(self._mark ^ start) < self._share

    def _gap(self) -> int:
        return int(math.log(1.0 - self._chance.random()) / self._log) if self._log else 2**60
