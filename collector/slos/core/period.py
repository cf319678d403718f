"""The period of an SLO: rolling days, or the month, quarter or year of a time zone."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from collector.history.core.window import HOUR, floor
from collector.slos.core.settings import Period

# Calendar periods, by their months.
CALENDAR: Final = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, slots=True)
class PeriodSpan:
    """A period that contains the moment it was made for; a rolling one ends then."""

    since: datetime
    until: datetime

    @property
    def length(self) -> timedelta:
        return self.until - self.since


def span(period: Period, timezone: str, now: datetime) -> PeriodSpan:
    """Return the period at *now*. A rolling one begins with its first hour, a calendar one at midnight."""
    if period in CALENDAR:
        return _calendar(CALENDAR[period], ZoneInfo(timezone), now)
    return PeriodSpan(floor(now, HOUR) - timedelta(days=int(period[:-1])), now)


def nominal(period: Period) -> timedelta:
    """Return the usual length: 30 days of a month, 91 of a quarter, 365 of a year."""
    usual = {"month": 30, "quarter": 91, "year": 365}
    return timedelta(days=usual[period] if period in usual else int(period[:-1]))


def _calendar(months: int, zone: ZoneInfo, now: datetime) -> PeriodSpan:
    local = now.astimezone(zone)
    first = (local.month - 1) // months * months + 1
    following = first + months
    years, month = divmod(following - 1, 12)
    return PeriodSpan(_midnight(local.year, first, zone), _midnight(local.year + years, month + 1, zone))


def _midnight(year: int, month: int, zone: ZoneInfo) -> datetime:
    return datetime(year, month, 1, tzinfo=zone).astimezone(UTC)
