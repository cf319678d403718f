"""Business hours such as "Mo-Fr 08:00-18:00, Sa 09:00-12:00", by the clock of a time zone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_PART = re.compile(r"([A-Z][a-z])(?:-([A-Z][a-z]))? ([0-9]{2}:[0-9]{2})-([0-9]{2}:[0-9]{2})")
_MIDNIGHT = "24:00"
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class OpenTime:
    """On *weekdays* (0 is Monday) from *opens* until *closes*, in minutes since midnight."""

    weekdays: frozenset[int]
    opens: int
    closes: int


def parse(text: str) -> list[OpenTime]:
    """Return the parts of *text*. Raises ValueError."""
    return [_part(part.strip()) for part in text.split(",")]


def is_open_times(text: str) -> bool:
    """Whether `parse` reads it."""
    try:
        return bool(parse(text))
    except ValueError:
        return False


def spans(
    hours: list[OpenTime], zone: ZoneInfo, since: datetime, until: datetime
) -> list[tuple[datetime, datetime]]:
    """Return the business hours between two moments, in UTC, merged and in order."""
    merged: list[tuple[datetime, datetime]] = []
    for start, end in sorted(_cut(hours, zone, since, until)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _cut(
    hours: list[OpenTime], zone: ZoneInfo, since: datetime, until: datetime
) -> Iterator[tuple[datetime, datetime]]:
    for day in _days(since.astimezone(zone).date(), until.astimezone(zone).date()):
        for each in (part for part in hours if day.weekday() in part.weekdays):
            start = max(_moment(day, each.opens, zone), since)
            end = min(_moment(day, each.closes, zone), until)
            if start < end:
                yield start, end


def _days(first: date, last: date) -> Iterator[date]:
    return (first + count * _DAY for count in range((last - first).days + 1))


def _moment(day: date, minutes: int, zone: ZoneInfo) -> datetime:
    days, rest = divmod(minutes, 1440)
    return datetime.combine(day + days * _DAY, time(rest // 60, rest % 60), zone).astimezone(UTC)


def _part(text: str) -> OpenTime:
    match = _PART.fullmatch(text)
    if match is None:
        raise ValueError(f"not understood: {text}")
    first = _DAYS.index(match[1])
    last = _DAYS.index(match[2]) if match[2] else first
    opens, closes = _minutes(match[3]), _minutes(match[4])
    if last < first or closes <= opens:
        raise ValueError(f"ends before it begins: {text}")
    return OpenTime(frozenset(range(first, last + 1)), opens, closes)


def _minutes(text: str) -> int:
    if text == _MIDNIGHT:
        return 1440
    at = time.fromisoformat(text)
    return at.hour * 60 + at.minute
