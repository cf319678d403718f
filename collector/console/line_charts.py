"""Line charts over time, as SVG: lines, points, bands, axes, and a text for each step."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, Self

from collector.console.language import gettext, translate
from shared.clock import EPOCH

WIDTH: Final = 720
HEIGHT: Final = 160
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
# Distances between two labels of the time axis, and how their times are written.
_DISTANCES: Final = (
    *(timedelta(minutes=each) for each in (1, 2, 5, 10, 15, 30)),
    *(each * _HOUR for each in (1, 2, 4, 6, 12)),
    *(each * _DAY for each in (1, 2, 7, 14, 30, 90, 365)),
)
_MOST_LABELS: Final = 8
_Y_STEPS: Final = 4

Value = tuple[datetime, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """*values* in order of time, None where nothing was measured; *style*: its class in the stylesheet.

    *joined*: the longest time between two values that a line joins. *pointed*: each value is a point, too.
    """

    label: str
    style: str
    values: Sequence[Value]
    joined: timedelta
    pointed: bool = False


@dataclass(frozen=True, slots=True)
class ChartSpan:
    """A part of the time axis; *text*: its tooltip; *at*: the moment that it stands for, if it is no span."""

    since: datetime
    until: datetime
    text: str
    style: str = ""
    at: datetime | None = None

    @property
    def title(self) -> str:
        """The tooltip without a script: the time in UTC, and the text."""
        if self.at is not None:
            return f"{self.at:%d %b, %H:%M:%S} UTC\n{self.text}"
        until = (
            f"{self.until:%H:%M}" if self.until.date() == self.since.date() else f"{self.until:%d %b, %H:%M}"
        )
        period = gettext("%(since)s to %(until)s UTC", since=f"{self.since:%d %b, %H:%M}", until=until)
        return f"{period}\n{self.text}"


@dataclass(frozen=True, slots=True)
class Path:
    """*line* and *points* are path data in a field of WIDTH by HEIGHT."""

    label: str
    style: str
    line: str
    points: str


@dataclass(frozen=True, slots=True)
class PlottedSpan:
    """A stretch of time in the field: *x* and *width* out of WIDTH."""

    x: str
    width: str
    of: ChartSpan


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """*place*: of the value axis from 0 to HEIGHT, of the time axis in percent; *at*: its moment."""

    place: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """A chart from *since* to *until*; *steps* cover it with their tooltips."""

    since: datetime
    until: datetime
    highest: float
    paths: Sequence[Path]
    bands: Sequence[PlottedSpan]
    steps: Sequence[PlottedSpan]
    values: Sequence[AxisLabel]
    times: Sequence[AxisLabel]


def draw(
    since: datetime,
    until: datetime,
    series: Sequence[Series],
    bands: Sequence[ChartSpan] = (),
    steps: Sequence[ChartSpan] = (),
) -> LineChart | None:
    """Draw *series* of milliseconds; None if none of them has a value."""
    highest = max((value for each in series for _, value in each.values if value is not None), default=None)
    if highest is None:
        return None
    scale = _Scale.of(since, until, highest)
    return LineChart(
        since=since,
        until=until,
        highest=highest,
        paths=[_path(each, scale) for each in series],
        bands=scale.boxes(bands),
        steps=scale.boxes(steps),
        values=scale.labels(),
        times=_times(scale),
    )


def stack(
    parts: Sequence[tuple[datetime, Mapping[str, float]]], labels: Mapping[str, str]
) -> LineChart | None:
    """Draw the *labels* of each moment on top of each other as areas; None without two moments and a value.

    *parts* are in order of time; each area is a class of its name in the stylesheet.
    """
    highest = max((sum(values.values()) for _, values in parts), default=0.0)
    if len(parts) < 2 or not highest:
        return None
    scale = _Scale.of(parts[0][0], parts[-1][0], highest)
    below = [0.0] * len(parts)
    paths = []
    for name, label in labels.items():
        above = [low + values.get(name, 0.0) for low, (_, values) in zip(below, parts, strict=True)]
        if above != below:
            there = [
                f"{scale.x(at):.1f} {scale.y(high):g}" for high, (at, _) in zip(above, parts, strict=True)
            ]
            back = [f"{scale.x(at):.1f} {scale.y(low):g}" for low, (at, _) in zip(below, parts, strict=True)]
            paths.append(Path(translate(label), name, f"M{'L'.join([*there, *reversed(back)])}z", ""))
        below = above
    return LineChart(
        since=scale.since,
        until=scale.until,
        highest=highest,
        paths=paths,
        bands=(),
        steps=scale.boxes(_around(parts, labels)),
        values=scale.labels(),
        times=_times(scale),
    )


def around(moments: Sequence[tuple[datetime, str]], since: datetime, until: datetime) -> list[ChartSpan]:
    """Return a stretch for each moment with its text, which reaches halfway to its neighbours."""
    times = [at for at, _ in moments]
    middles = [before + (after - before) / 2 for before, after in pairwise(times)]
    return [
        ChartSpan(left, right, text, at=at)
        for (at, text), left, right in zip(moments, [since, *middles], [*middles, until], strict=True)
    ]


def _around(
    parts: Sequence[tuple[datetime, Mapping[str, float]]], labels: Mapping[str, str]
) -> list[ChartSpan]:
    texts = [
        (
            at,
            "\n".join(
                f"{translate(label)} {values[name]:.0f} ms"
                for name, label in labels.items()
                if name in values
            ),
        )
        for at, values in parts
    ]
    return around(texts, parts[0][0], parts[-1][0])


def milliseconds(value: float) -> str:
    """``0``, ``0.5 ms``, ``250 ms``, ``1.5 s``: a label of the value axis."""
    if not value:
        return "0"
    return f"{value:g} ms" if value < 1000 else f"{value / 1000:g} s"


@dataclass(frozen=True, slots=True)
class _Scale:
    """*step*: milliseconds between two labels of the value axis, *count* their number above 0."""

    since: datetime
    until: datetime
    step: float
    count: int

    @classmethod
    def of(cls, since: datetime, until: datetime, highest: float) -> Self:
        step = _nice(highest / _Y_STEPS)
        return cls(since, until, step, max(math.ceil(highest / step), 1))

    def labels(self) -> list[AxisLabel]:
        values = [round(self.step * at, 3) for at in range(self.count + 1)]
        return [AxisLabel(f"{self.y(value):g}", milliseconds(value)) for value in values]

    def x(self, at: datetime) -> float:
        return WIDTH * min(max((at - self.since) / (self.until - self.since), 0.0), 1.0)

    def y(self, value: float) -> float:
        return round(HEIGHT * (1 - value / (self.step * self.count)), 1)

    def boxes(self, stretches: Sequence[ChartSpan]) -> list[PlottedSpan]:
        found = []
        for each in stretches:
            left, right = self.x(each.since), self.x(each.until)
            # A short outage in a long range stays visible.
            found.append(PlottedSpan(f"{left:.1f}", f"{max(right - left, 1.5):.1f}", each))
        return found


def _path(series: Series, scale: _Scale) -> Path:
    known = [(at, value) for at, value in series.values if value is not None]
    line: list[str] = []
    points: list[str] = []
    for number, (at, value) in enumerate(known):
        begins = number == 0 or at - known[number - 1][0] > series.joined
        ends = number + 1 == len(known) or known[number + 1][0] - at > series.joined
        place = f"{scale.x(at):.1f} {scale.y(value):g}"
        line.append(f"{'M' if begins else 'L'}{place}")
        if series.pointed or (begins and ends):
            points.append(f"M{place}h0")
    return Path(series.label, series.style, "".join(line), "".join(points))


def _nice(step: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten; at least a tenth of a millisecond."""
    power: float = 10.0 ** math.floor(math.log10(max(step, 0.1)))
    return next(size * power for size in (1, 2, 5, 10) if size * power >= min(step, 10 * power) - 1e-9)


def _times(scale: _Scale) -> list[AxisLabel]:
    length = scale.until - scale.since
    distance = next((each for each in _DISTANCES if length / each <= _MOST_LABELS), length / _MOST_LABELS)
    first = scale.since + (EPOCH - scale.since) % distance
    labels = []
    for number in range(_MOST_LABELS + 2):
        at = first + number * distance
        place = 100 * scale.x(at) / WIDTH
        # A label at an end would be cut.
        if at < scale.until and 2 <= place <= 98:
            text = f"{at:%d %b}" if distance >= _DAY else f"{at:%H:%M}"
            labels.append(AxisLabel(f"{place:.2f}", text, at))
    return labels
