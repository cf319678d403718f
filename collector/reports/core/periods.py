"""The periods of reports: weeks, months and quarters by the calendar of a time zone, or given days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)
_MONTHS = {"month": 1, "quarter": 3}
# Periods whose moment has passed and that are still made; older ones are skipped.
MOST_MISSED = 12


class PeriodKind(StrEnum):
    """Weeks begin on Monday; a custom period has a first and a last day."""

    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Days:
    """A period by the calendar; *last* belongs to it."""

    first: date
    last: date

    @property
    def after(self) -> date:
        """The first day after the period."""
        return self.last + _DAY


def containing(kind: PeriodKind, day: date) -> Days:
    """Return the week, month or quarter of *day*. Raises ValueError for a custom period."""
    if kind is PeriodKind.WEEK:
        first = day - day.weekday() * _DAY
        return Days(first, first + 6 * _DAY)
    if kind is PeriodKind.CUSTOM:
        raise ValueError("a custom period has days of its own")
    months = _MONTHS[kind]
    first = day.replace(month=day.month - (day.month - 1) % months, day=1)
    return Days(first, _month_later(first, months) - _DAY)


def before(kind: PeriodKind, days: Days) -> Days:
    """Return the period before: as many days before a custom one."""
    if kind is PeriodKind.CUSTOM:
        length = days.after - days.first
        return Days(days.first - length, days.first - _DAY)
    return containing(kind, days.first - _DAY)


def span(days: Days, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the first moment of the period, and that of the day after it, in UTC."""
    return midnight(days.first, zone), midnight(days.after, zone)


def due(days: Days, zone: ZoneInfo, hour: int) -> datetime:
    """Return when the period's report is computed: at *hour* on the day after the period, in UTC."""
    return datetime.combine(days.after, time(hour), zone).astimezone(UTC)


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """Return the beginning of the day in the zone, in UTC."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def last_complete(kind: PeriodKind, zone: ZoneInfo, now: datetime) -> Days:
    """Return the newest week, month or quarter that is over."""
    return before(kind, containing(kind, now.astimezone(zone).date()))


def missed(kind: PeriodKind, first: date, zone: ZoneInfo, hour: int, now: datetime) -> Sequence[Days]:
    """Return the periods from that of *first* on whose moment has come, at most the newest `MOST_MISSED`."""
    found = []
    days = containing(kind, first)
    while due(days, zone, hour) <= now:
        found.append(days)
        days = containing(kind, days.after)
    return found[-MOST_MISSED:]


def _month_later(first: date, months: int) -> date:
    month = first.month - 1 + months
    return first.replace(year=first.year + month // 12, month=month % 12 + 1)
