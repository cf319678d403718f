"""The time window of a chart: its steps, and which parts come from hours, days or raw results."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from collector.history.core.uptime import Span, less
from shared.clock import EPOCH

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MOST_POINTS = 1000
MOST_RAW = timedelta(days=2)
_USUAL_POINTS = 100
_STEPS = (timedelta(minutes=1), timedelta(minutes=5), HOUR, 6 * HOUR, DAY)

_NEAR = 2 * DAY
_MS = timedelta(milliseconds=1)
_HOUR_MS = HOUR // _MS
_DAY_MS = DAY // _MS

Between = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a window, without overlap: whole days, whole hours, and the rest, for raw results."""

    days: list[Between]
    hours: list[Between]
    raw: list[Between]


def default_step(length: timedelta, *, hours: bool = False) -> timedelta:
    """Return a step for at most a hundred points; above days, whole weeks. *hours*: at least one hour."""
    for step in _STEPS:
        if not (hours and step < HOUR) and length < (_USUAL_POINTS - 1) * step:
            return step
    week = 7 * DAY
    return week * (length // ((_USUAL_POINTS - 1) * week) + 1)


def by_hours(step: timedelta) -> bool:
    """Whether the step is a multiple of an hour."""
    return not step % HOUR


def count(since: datetime, until: datetime, step: timedelta) -> int:
    """Return the number of points; steps begin at multiples of *step* since 1970."""
    return -(-(until - EPOCH) // step) - (since - EPOCH) // step


def points(since: datetime, until: datetime, step: timedelta) -> list[Between]:
    """Return the steps, in order; the first and the last are cut to the window."""
    first = (since - EPOCH) // step
    starts = [EPOCH + step * (first + n) for n in range(count(since, until, step))]
    return [(max(start, since), min(start + step, until)) for start in starts]


def floor(at: datetime, step: timedelta) -> datetime:
    """Return the start of the step of *at*."""
    return at - (at - EPOCH) % step


def ceiling(at: datetime, step: timedelta) -> datetime:
    """Return the first start of a step at or after *at*."""
    return at + (EPOCH - at) % step


def divide(
    since: datetime,
    until: datetime,
    step: timedelta,
    *,
    rolled_until: datetime | None,
    dirty: Collection[datetime] = (),
) -> Parts:
    """Divide a window; hours before *rolled_until* have rollups, valid unless *dirty* (the hours' starts)."""
    whole = [(_ms(since), _ms(until))]
    rolled = min(until, rolled_until) if rolled_until else since
    if not by_hours(step) or rolled <= since:
        return Parts([], [], _shown(whole))
    spans = [(_ms(at), _ms(at) + _HOUR_MS) for at in dirty]
    days: list[Span] = []
    if not step % DAY:
        spoilt = [(at - at % _DAY_MS, at - at % _DAY_MS + _DAY_MS) for at, _ in spans]
        days = less(_inner(since, rolled, DAY), spoilt)
    hours = less(_inner(since, rolled, HOUR), [*days, *spans])
    return Parts(_shown(days), _shown(hours), _shown(less(whole, [*days, *hours])))


def clusters(spans: Iterable[Between]) -> list[list[Between]]:
    """Group spans that are near each other, so that one query plans only for days that it reads."""
    groups: list[list[Between]] = []
    for span in sorted(span for span in spans if span[0] < span[1]):
        if groups and span[0] - groups[-1][-1][1] < _NEAR:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _inner(since: datetime, until: datetime, step: timedelta) -> list[Span]:
    first, last = ceiling(since, step), floor(until, step)
    return [(_ms(first), _ms(last))] if first < last else []


def _ms(at: datetime) -> int:
    return (at - EPOCH) // _MS


def _shown(spans: Iterable[Span]) -> list[Between]:
    return [(EPOCH + since * _MS, EPOCH + until * _MS) for since, until in spans]
