"""Calendar periods of incident statistics, in UTC."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum


class Period(StrEnum):
    """The length of a group."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


def first_of(group: Period, at: datetime) -> date:
    """Return the date that names the group of *at*: its day, its Monday, or the first of its month."""
    day = at.astimezone(UTC).date()
    if group is Period.WEEK:
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if group is Period.MONTH else day


def dates(group: Period, since: datetime, until: datetime) -> Iterator[date]:
    """Yield every group from that of *since* to that of *until*, oldest first."""
    at, last = first_of(group, since), first_of(group, until)
    while at <= last:
        yield at
        if at > date.max - timedelta(days=31):
            return
        at = _next(group, at)


def _next(group: Period, at: date) -> date:
    if group is Period.MONTH:
        return (at + timedelta(days=31)).replace(day=1)
    return at + timedelta(days=7 if group is Period.WEEK else 1)
