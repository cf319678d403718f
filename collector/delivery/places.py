"""How many deliveries may be under way, and whose: receivers that stall leave places for all others."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

PER_CHANNEL: Final = 8


@dataclass(frozen=True, slots=True)
class Places:
    """Of *all*, the first *shared* are for whoever comes, the next up to *single* for one of each channel.

    The last ones are for teams that have few under way: one that has *shared* of them gets no more.
    """

    shared: int = 500
    single: int = 1_500
    all: int = 2_000


@dataclass(frozen=True, slots=True)
class Room:
    """What may be started: of each channel up to *each* with what it has, nothing of the teams *crowded*."""

    most: int
    each: int
    crowded: Sequence[int] = ()


def room(places: Places, flying: Counter[int]) -> Room:
    """*flying*: how many are under way, by team."""
    total = flying.total()
    if total < places.shared:
        return Room(places.shared - total, PER_CHANNEL)
    if total < places.single:
        return Room(places.single - total, 1)
    crowded = sorted(team for team, count in flying.items() if count >= places.shared)
    return Room(max(0, places.all - total), 1, crowded)
