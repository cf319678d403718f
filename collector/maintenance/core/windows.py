"""Maintenance windows: when one is in force, and for which monitors."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from uuid import UUID
from zoneinfo import ZoneInfo

from collector.maintenance.core import recurrence, recurrence_times

LONGEST_S = 366 * 86_400
# The number of upcoming spans shown; at least this many are always computed.
SHOWN = 5
_AHEAD = timedelta(days=35)
_MOST = 100


class WindowStatus(StrEnum):
    DISABLED = "disabled"
    ENDED = "ended"
    ACTIVE = "active"
    SCHEDULED = "scheduled"


@dataclass(frozen=True, slots=True)
class Selection:
    """Every monitor, or *monitors* plus matches of *tags*: all pairs of an object, any item of a list."""

    every: bool
    monitors: Sequence[UUID]
    tags: Mapping[str, str] | Sequence[str]

    @property
    def names(self) -> list[str]:
        """Tag names that match with any value; any of them suffices."""
        return [] if isinstance(self.tags, Mapping) else [tag for tag in self.tags if ":" not in tag]

    @property
    def pairs(self) -> list[dict[str, str]]:
        """Tags with values; all pairs of any of these must match."""
        if isinstance(self.tags, Mapping):
            return [dict(self.tags)] if self.tags else []
        split = (tag.partition(":") for tag in self.tags if ":" in tag)
        return [{name: value} for name, _, value in split]


@dataclass(frozen=True, slots=True)
class Schedule:
    """*starts_local* is *starts_at* in *timezone*; on the dates in *exdates* no occurrence starts.

    A window recurs by local time, regardless of daylight saving; *duration* is elapsed time.
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
    """A half-open span."""

    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class ComputedSpans:
    """*until*: all spans that start before it, in local time, are computed; None: there are no more.

    *extend_at*: when to compute more.
    """

    spans: list[WindowSpan]
    until: datetime | None
    extend_at: datetime | None


def moment(local: datetime, zone: ZoneInfo) -> datetime:
    """The instant of *local* in *zone*: the first one if ambiguous, shifted by the gap if nonexistent."""
    return local.replace(tzinfo=zone).astimezone(UTC)


def local(at: datetime, zone: ZoneInfo) -> datetime:
    """The local time in *zone*."""
    return at.astimezone(zone).replace(tzinfo=None)


def occurrences(schedule: Schedule, since: datetime) -> Iterator[tuple[datetime, WindowSpan]]:
    """Occurrences from the local time *since* on: the local start of each, and its span."""
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


def lay(schedule: Schedule, since: datetime | None, now: datetime) -> ComputedSpans:
    """Compute the spans of the next weeks; *since*: where the last run ended, None for the first run.

    Of a recurring window, past spans are left out; a single span may lie in the past.
    """
    spans: list[WindowSpan] = []
    for at, span in occurrences(schedule, _begin(schedule, now) if since is None else since):
        if len(spans) >= _MOST or (len(spans) >= SHOWN and span.starts_at > now + _AHEAD):
            return ComputedSpans(spans, at, spans[-SHOWN].starts_at)
        if since is not None or schedule.rrule is None or span.ends_at > now:
            spans.append(span)
    return ComputedSpans(spans, None, None)


def from_now(spans: Iterable[WindowSpan], now: datetime) -> list[WindowSpan]:
    """The remainder of *spans*; one in force starts now."""
    left = [span for span in spans if span.ends_at > now]
    under_way = [WindowSpan(now, span.ends_at) for span in left if span.starts_at <= now]
    longest = max(under_way, key=lambda span: span.ends_at, default=None)
    return ([longest] if longest else []) + [span for span in left if span.starts_at > now]


def status(spans: Sequence[WindowSpan], now: datetime, *, enabled: bool) -> WindowStatus:
    """The window's status; *spans*: those that are not over, in order of their starts."""
    if not enabled:
        return WindowStatus.DISABLED
    if not spans:
        return WindowStatus.ENDED
    return WindowStatus.ACTIVE if spans[0].starts_at <= now else WindowStatus.SCHEDULED


def _begin(schedule: Schedule, now: datetime) -> datetime:
    """A local time before every span that is not over at *now*."""
    if schedule.rrule is None:
        return schedule.starts_local
    return local(now - schedule.duration, schedule.zone) - timedelta(days=1)


def _span(schedule: Schedule, at: datetime) -> WindowSpan:
    start = schedule.starts_at if at == schedule.starts_local else moment(at, schedule.zone)
    return WindowSpan(start, start + schedule.duration)
