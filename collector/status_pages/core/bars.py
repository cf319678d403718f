"""The bars of a status page: a component's days; equal days in a row are drawn as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

DAYS: Final = 90
# A day is three wide, and one apart from the next.
_STEP: Final = 4
WIDTH: Final = DAYS * _STEP - 1
_BAD: Final = 99.0


@dataclass(frozen=True, slots=True)
class Bar:
    """Days alike from *left*, *width* wide; *level*: ``none``, ``good``, ``fair`` or ``bad``.

    *since* and *until*: the first and the last of them; *share*: the uptime of each.
    """

    left: int
    width: int
    level: str
    since: datetime
    until: datetime
    share: float | None


def bars(days: Sequence[tuple[datetime, float | None]]) -> list[Bar]:
    """Of the last days, oldest first, each with its uptime in percent; None where nothing is known."""
    shift = DAYS - len(days)
    found = []
    for _, run in groupby(enumerate(days, start=shift), key=lambda each: (_level(each[1][1]), each[1][1])):
        alike = list(run)
        first, (since, share) = alike[0]
        width = len(alike) * _STEP - 1
        found.append(Bar(first * _STEP, width, _level(share), since, alike[-1][1][0], share))
    return found


def said(share: float | None) -> str:
    """Never rounded up to all: ``99.99 %`` stays less than 100."""
    if share is None:
        return "unknown"
    return "100 %" if share >= 100 else f"{int(share * 100) / 100:.2f} %"


def _level(share: float | None) -> str:
    if share is None:
        return "none"
    if share >= 100:
        return "good"
    return "fair" if share >= _BAD else "bad"
