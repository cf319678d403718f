"""Charts as SVG: bars of a monitor's days, and columns of counts with axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from collector.console.line_charts import HEIGHT, WIDTH, AxisLabel

# A day is three units wide, with a gap of one.
_STEP: Final = 4
_FAIR: Final = 99.0
_TICKS: Final = 4
_MOST_LABELS: Final = 8


@dataclass(frozen=True, slots=True)
class Bars:
    """*paths*: the days of each level (``good``, ``fair``, ``bad``, ``none``), in a field *width* by 20."""

    width: int
    paths: dict[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class ChartColumn:
    """A column in a field of WIDTH by HEIGHT; *text*: its tooltip."""

    x: str
    y: str
    width: str
    height: str
    text: str


@dataclass(frozen=True, slots=True)
class ColumnChart:
    """*values*: labels of the value axis, *labels*: those below the columns, of which some have none."""

    columns: Sequence[ChartColumn]
    values: Sequence[AxisLabel]
    labels: Sequence[AxisLabel]


def bars(days: Sequence[float | None], of: str = "days") -> Bars:
    """Draw uptimes in percent, oldest first; None where nothing is known."""
    paths: dict[str, list[str]] = {}
    for at, share in enumerate(days):
        paths.setdefault(level(share), []).append(f"M{at * _STEP} 0h3v20h-3z")
    known = [share for share in days if share is not None]
    troubled = sum(share < 100 for share in known)
    text = f"{len(known)} of the last {len(days)} {of} are known, {troubled} of them with an outage"
    return Bars(len(days) * _STEP - 1, {name: "".join(each) for name, each in paths.items()}, text)


def level(share: float | None) -> str:
    """Return the class of an uptime in percent: ``good``, ``fair``, ``bad`` or ``none``."""
    if share is None:
        return "none"
    if share >= 100:
        return "good"
    return "fair" if share >= _FAIR else "bad"


def columns(counts: Sequence[tuple[str, int]]) -> ColumnChart:
    """Draw a column for each label and count, in a field of WIDTH by HEIGHT with its axes."""
    distance = whole_step(max((count for _, count in counts), default=0) / _TICKS)
    top = distance * max(-(-max((count for _, count in counts), default=0) // distance), 1)
    step = WIDTH / max(len(counts), 1)
    labelled = max(-(-len(counts) // _MOST_LABELS), 1)
    return ColumnChart(
        columns=[
            ChartColumn(
                x=f"{at * step + 1:.1f}",
                y=f"{HEIGHT * (1 - count / top):.1f}",
                width=f"{max(step - 2, 1):.1f}",
                height=f"{HEIGHT * count / top:.1f}",
                text=f"{label}: {count}",
            )
            for at, (label, count) in enumerate(counts)
        ],
        values=[
            AxisLabel(f"{HEIGHT * (1 - count / top):g}", f"{count:,}")
            for count in range(0, top + 1, distance)
        ],
        labels=[
            AxisLabel(f"{100 * (at + 0.5) / len(counts):.2f}", label)
            for at, (label, _) in enumerate(counts)
            if at % labelled == labelled // 2
        ],
    )


def whole_step(least: float) -> int:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least *least*."""
    power = 1
    while True:
        for size in (1, 2, 5):
            if size * power >= least:
                return size * power
        power *= 10
