"""Maintenance windows: when one is in force, and for which monitors."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from collector.maintenance.core import recurrence, recurrence_times

LONGEST_S = 366 * 86_400
# How many of the coming spans are shown, and so many are always known.
SHOWN = 5
_AHEAD = timedelta(days=35)
_MOST = 100


@dataclass(frozen=True, slots=True)
class Selection:
    """Every monitor, or those of *monitors* beside those with *tags*: all of an object, any of a list."""

    every: bool
    monitors: Sequence[UUID]
    tags: Mapping[str, str] | Sequence[str]

    @property
    def names(self) -> list[str]:
        """Of tags, whatever their value: any of them."""
        return [] if isinstance(self.tags, Mapping) else [tag for tag in self.tags if ":" not in tag]

    @property
    def pairs(self) -> list[dict[str, str]]:
        """Tags with their values: all that is in any of these."""
        if isinstance(self.tags, Mapping):
            return [dict(self.tags)] if self.tags else []
        split = (tag.partition(":") for tag in self.tags if ":" in tag)
        return [{name: value} for name, _, value in split]


@dataclass(frozen=True, slots=True)
class Schedule:
    """*starts_local* is *starts_at* by the clock of *timezone*; *exdates* are days there when none begins.

    A window recurs by that clock, whatever daylight saving does; *duration* is of elapsed time.
    """

    starts_at: datetime
    starts_local: datetime
    duration: timedelta
    timezone: str
    rrule: str | None
    exdates: Sequence[date]

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


@dataclass(frozen=True, slots=True)
class WindowSpan:
    """Half open."""

    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Laid:
    """*until*: all spans that begin before it, by the zone's clock, are known; None when these are all.

    *extend_at*: when it is time to look for more.
    """

    spans: list[WindowSpan]
    until: datetime | None
    extend_at: datetime | None


def moment(local: datetime, zone: ZoneInfo) -> datetime:
    """When a clock of *zone* shows *local*: the first time, or, if it never does, later by the gap."""
    return local.replace(tzinfo=zone).astimezone(UTC)


def local(at: datetime, zone: ZoneInfo) -> datetime:
    """What a clock of *zone* shows."""
    return at.astimezone(zone).replace(tzinfo=None)


def occurrences(schedule: Schedule, since: datetime) -> Iterator[tuple[datetime, WindowSpan]]:
    """From *since* on, a local time: when each begins by the zone's clock, and its span."""
    if schedule.rrule is None:
        if schedule.starts_local >= since:
            yield schedule.starts_local, _span(schedule, schedule.starts_local)
        return
    rule = recurrence.parse(schedule.rrule)
    last = rule.until if rule.until is not None and rule.until.tzinfo is not None else None
    for at in recurrence_times.times(rule, schedule.starts_local, since):
        span = _span(schedule, at)
        if last is not None and span.starts_at > last:
            return
        if at.date() not in schedule.exdates:
            yield at, span


def lay(schedule: Schedule, since: datetime | None, now: datetime) -> Laid:
    """The spans of the next weeks; *since*: where the last time ended, None for the first time.

    Of a window that recurs only what was not over then is laid; one that does not may lie in the past.
    """
    found: list[WindowSpan] = []
    for at, span in occurrences(schedule, _begin(schedule, now) if since is None else since):
        if len(found) >= _MOST or (len(found) >= SHOWN and span.starts_at > now + _AHEAD):
            return Laid(found, at, found[-SHOWN].starts_at)
        if since is not None or schedule.rrule is None or span.ends_at > now:
            found.append(span)
    return Laid(found, None, None)


def from_now(spans: Iterable[WindowSpan], now: datetime) -> list[WindowSpan]:
    """What is left of *spans*; one that is under way begins now."""
    left = [span for span in spans if span.ends_at > now]
    under_way = [WindowSpan(now, span.ends_at) for span in left if span.starts_at <= now]
    longest = max(under_way, key=lambda span: span.ends_at, default=None)
    return ([longest] if longest else []) + [span for span in left if span.starts_at > now]


def status(spans: Sequence[WindowSpan], now: datetime, *, enabled: bool) -> str:
    """*spans* are those that are not over, by their starts."""
    if not enabled:
        return "disabled"
    if not spans:
        return "ended"
    return "active" if spans[0].starts_at <= now else "scheduled"


def _begin(schedule: Schedule, now: datetime) -> datetime:
    """Before whatever is not over at *now*."""
    if schedule.rrule is None:
        return schedule.starts_local
    return local(now - schedule.duration, schedule.zone) - timedelta(days=1)


def _span(schedule: Schedule, at: datetime) -> WindowSpan:
    start = schedule.starts_at if at == schedule.starts_local else moment(at, schedule.zone)
    return WindowSpan(start, start + schedule.duration)
