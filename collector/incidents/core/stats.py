"""Calendar periods of incident statistics, in UTC."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

GROUPS = {"day": "byDay", "week": "byWeek", "month": "byMonth"}


def first_of(group: str, at: datetime) -> date:
    """Return the date that names the group of *at*: its day, its Monday, or the first of its month."""
    day = at.astimezone(UTC).date()
    if group == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if group == "month" else day


def dates(group: str, since: datetime, until: datetime) -> Iterator[date]:
    """Yield every group from that of *since* to that of *until*, oldest first."""
    at, last = first_of(group, since), first_of(group, until)
    while at <= last:
        yield at
        if at > date.max - timedelta(days=31):
            return
        at = _next(group, at)


def _next(group: str, at: date) -> date:
    if group == "month":
        return (at + timedelta(days=31)).replace(day=1)
    return at + timedelta(days=7 if group == "week" else 1)
