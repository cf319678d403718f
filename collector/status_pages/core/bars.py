"""The bars of a status page: a component's days; equal days in a row are drawn as one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby
from typing import Final

DAYS: Final = 90
# A day is three units wide, with a gap of one unit.
_STEP: Final = 4
WIDTH: Final = DAYS * _STEP - 1
_BAD: Final = 99.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A run of equal days from *left*, *width* wide; *level*: ``none``, ``good``, ``fair`` or ``bad``.

    *since* and *until*: its first and its last day; *share*: the uptime of each; *titles*: of the incidents
    on each.
    """

    left: int
    width: int
    level: str
    since: datetime
    until: datetime
    share: float | None
    titles: Sequence[str] = ()


def bars(
    days: Sequence[tuple[datetime, float | None]], titles: Mapping[date, Sequence[str]] | None = None
) -> list[Bar]:
    """Bars of the last days, oldest first; *days*: their uptimes in percent, None where there is no data.

    *titles*: of the incidents on each day that had some.
    """
    shift, known = DAYS - len(days), titles or {}

    def look(each: tuple[int, tuple[datetime, float | None]]) -> tuple[str, float | None, Sequence[str]]:
        _, (at, share) = each
        return _level(share), share, known.get(at.date(), ())

    drawn = []
    for (level, share, of_day), run in groupby(enumerate(days, start=shift), key=look):
        alike = list(run)
        first, (since, _) = alike[0]
        width = len(alike) * _STEP - 1
        drawn.append(Bar(first * _STEP, width, level, since, alike[-1][1][0], share, of_day))
    return drawn


def percent(share: float | None) -> str:
    """The uptime in percent, never rounded up to 100: ``99.99 %`` stays below."""
    if share is None:
        return "unknown"
    return "100 %" if share >= 100 else f"{int(share * 100) / 100:.2f} %"


def _level(share: float | None) -> str:
    if share is None:
        return "none"
    if share >= 100:
        return "good"
    return "fair" if share >= _BAD else "bad"
