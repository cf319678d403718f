"""Burn rates over pairs of windows, with the limits of the SRE workbook."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from collector.history.core.window import HOUR, floor
from collector.slos.core.budget import SloTally
from collector.slos.core.period import nominal
from collector.slos.core.settings import Period

_MINUTE: Final = timedelta(minutes=1)
# Shares of the budget of a period that the workbook lets pass, by the hours of their long windows.
_SHARES: Final[Sequence[tuple[float, int]]] = ((0.02, 1), (0.05, 6), (0.10, 24), (0.10, 72))
# The short window is this part of the long one.
_SHORT: Final = 12
# A window as long as this begins with an hour.
_LONG: Final = timedelta(hours=6)
LONGEST: Final = timedelta(hours=72)
# Windows up to this length are measured by the minute.
BY_MINUTE: Final = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Burn:
    """The burn rates of a long window and of its last twelfth, and the *factor* that is their limit."""

    factor: float
    hours: int
    long: float
    short: float

    @property
    def exceeded(self) -> bool:
        return self.long >= self.factor and self.short >= self.factor


def limits(period: Period) -> list[tuple[float, int]]:
    """Return factors with the hours of their long windows: share x period / window, at least 1."""
    length = nominal(period)
    return [
        (max(1.0, round(share * (length / timedelta(hours=hours)), 2)), hours) for share, hours in _SHARES
    ]


def begin(now: datetime, length: timedelta) -> datetime:
    """Return the start of a window of that *length*: of a minute, or of the nearest hour from 6 h on."""
    start = now - length
    return floor(start + HOUR / 2, HOUR) if length >= _LONG else floor(start, _MINUTE)


def burns(
    period: Period, target: float, now: datetime, measured: Callable[[datetime], SloTally]
) -> list[Burn]:
    """Return the burn rates of all windows; *measured*: the tally from a moment until now."""
    found = []
    for factor, hours in limits(period):
        length = timedelta(hours=hours)
        long, short = (measured(begin(now, part)).burn(target) for part in (length, length / _SHORT))
        found.append(Burn(factor, hours, long, short))
    return found
