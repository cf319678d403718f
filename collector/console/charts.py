"""Charts of a monitor's past, as SVG paths: bars of days and lines of response times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from collector.history.core.rollup import Numbers

# A day is three units wide, with a gap of one.
_STEP: Final = 4
_FAIR: Final = 99.0
WIDTH: Final = 720
HEIGHT: Final = 160
# Room above the highest value.
_ROOM: Final = 1.1
_LINES: Final = ("p50", "p95", "p99")


@dataclass(frozen=True, slots=True)
class Bars:
    """*paths*: the days of each level (``good``, ``fair``, ``bad``, ``none``), in a field *width* by 20."""

    width: int
    paths: dict[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """*paths* by percentile, in a field of WIDTH by HEIGHT; *highest*: milliseconds at its top.

    *down*: the steps in which it was down, as rectangles.
    """

    paths: dict[str, str]
    down: str
    highest: float


def bars(days: Sequence[float | None], of: str = "days") -> Bars:
    """Draw uptimes in percent, oldest first; None where nothing is known."""
    paths: dict[str, list[str]] = {}
    for at, share in enumerate(days):
        paths.setdefault(_level(share), []).append(f"M{at * _STEP} 0h3v20h-3z")
    known = [share for share in days if share is not None]
    troubled = sum(share < 100 for share in known)
    text = f"{len(known)} of the last {len(days)} {of} are known, {troubled} of them with an outage"
    return Bars(len(days) * _STEP - 1, {level: "".join(each) for level, each in paths.items()}, text)


def _level(share: float | None) -> str:
    if share is None:
        return "none"
    if share >= 100:
        return "good"
    return "fair" if share >= _FAIR else "bad"


def lines(points: Sequence[Numbers]) -> Lines | None:
    """Draw response times by step; None if none was measured."""
    measured = [point.percentiles_ms for point in points]
    highest = max((values[-1] for values in measured if values), default=0.0) * _ROOM
    if not highest:
        return None
    step = WIDTH / max(len(points) - 1, 1)
    return Lines(
        {
            name: _line([values[at] if values else None for values in measured], step, highest)
            for at, name in enumerate(_LINES)
        },
        "".join(
            f"M{max(at - 0.5, 0) * step:.1f} 0h{step:.1f}v{HEIGHT}h-{step:.1f}z"
            for at, point in enumerate(points)
            if point.down_ms
        ),
        highest,
    )


def _line(values: Sequence[float | None], step: float, highest: float) -> str:
    """Draw a line with a gap where nothing was measured; a lone point is a short stroke."""
    path, drawing = [], False
    for at, value in enumerate(values):
        if value is None:
            drawing = False
            continue
        place = f"{at * step:.1f} {HEIGHT * (1 - value / highest):.1f}"
        path.append(f"L{place}" if drawing else f"M{place}h.1")
        drawing = True
    return "".join(path)


@dataclass(frozen=True, slots=True)
class Stack:
    """*paths*: the duration of each phase, stacked; *highest*: milliseconds at the top."""

    paths: dict[str, str]
    highest: float


def phases(checks: Sequence[Mapping[str, float | None]]) -> Stack | None:
    """Draw a column for each check from its phases in milliseconds; None without any."""
    highest = max((sum(filter(None, durations.values())) for durations in checks), default=0.0)
    if not highest:
        return None
    step = WIDTH / len(checks)
    paths: dict[str, list[str]] = {}
    for at, durations in enumerate(checks):
        top = float(HEIGHT)
        for name, took in durations.items():
            height = HEIGHT * (took or 0) / highest
            top -= height
            if height:
                paths.setdefault(name, []).append(
                    f"M{at * step:.1f} {top:.1f}h{step * 0.8:.1f}v{height:.1f}h-{step * 0.8:.1f}z"
                )
    return Stack({name: "".join(each) for name, each in paths.items()}, highest)


def columns(counts: Sequence[int]) -> str:
    """Draw columns in a field of WIDTH by HEIGHT; the largest is as high as the field."""
    most, step = max(counts, default=0) or 1, WIDTH / max(len(counts), 1)
    return "".join(
        f"M{at * step + 1:.1f} {HEIGHT}V{HEIGHT * (1 - count / most):.1f}h{max(step - 2, 1):.1f}V{HEIGHT}z"
        for at, count in enumerate(counts)
        if count
    )
