"""The response time of a component over the last 24 hours, as a line drawn in SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from collector.history.core import window
from collector.history.core.window import HOUR
from collector.status_pages.storage.speed import Hour

HOURS: Final = 24
WIDTH: Final = 10 * (HOURS - 1)
HEIGHT: Final = 60
# Leave a margin above the highest value, where half of the line would be cut off.
_ROOM: Final = 1.15
_OUT: Final = 9
_HALF: Final = 4


@dataclass(frozen=True, slots=True)
class ChartDrawing:
    """*path* has one shape per run of hours with data; times are in milliseconds."""

    path: str
    mean: int
    highest: int


def chart(hours: Sequence[Hour], now: datetime) -> ChartDrawing | None:
    """Draw the whole hours before *now*; None if fewer than two have data."""
    first = window.floor(now, HOUR) - HOURS * HOUR
    known = {(hour.at - first) // HOUR: hour.mean_ms for hour in hours if first <= hour.at}
    if len(known) < 2:
        return None
    highest = max(known.values())
    heights = {at: round(HEIGHT * (1 - mean / (highest * _ROOM or 1))) for at, mean in known.items()}
    return ChartDrawing(
        path="".join(_run(run, heights) for run in _runs(sorted(known))),
        mean=round(sum(known.values()) / len(known)),
        highest=round(highest),
    )


def _runs(places: Sequence[int]) -> list[list[int]]:
    """``[1, 2, 5]`` -> ``[[1, 2], [5]]``."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _run(run: Sequence[int], heights: dict[int, int]) -> str:
    """A closed shape; its lower edge and the sides at the chart's ends lie outside the visible area."""
    first = -_OUT if run[0] == 0 else 10 * run[0] - _HALF
    last = WIDTH + _OUT if run[-1] == HOURS - 1 else 10 * run[-1] + _HALF
    points = " ".join(f"{10 * place} {heights[place]}" for place in run)
    return f"M{first} 99V{heights[run[0]]}L{points}H{last}V99z"
