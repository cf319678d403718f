"""Next run of a cron schedule, with Debian cron's rules for clock changes."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

_FIELDS = 5
# A time that does not come within the 50 years searched is awaited then.
_NEVER = timedelta(days=50 * 366)
_SECOND, _MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def fault(expression: str) -> str | None:
    """Return why it is no cron expression of five fields with a next time; None if it is one."""
    if len(expression.split()) != _FIELDS:
        return "must have five fields: minute, hour, day of month, month, day of week"
    try:
        next(CronSim(expression, datetime(2024, 1, 1)))  # noqa: DTZ001 - a wall clock without a zone
    except CronSimError as error:
        return f"cannot be read: {str(error)[:1].lower()}{str(error)[1:]}"
    except (StopIteration, OverflowError):
        return "never comes true"
    return None


@lru_cache(maxsize=4096)
def following(expression: str, zone: str, after: datetime) -> datetime:
    """Return the first time of *expression* on the clocks of *zone* after that moment; both in UTC.

    A job with fixed times runs once when they come twice, and right after a gap that skips them;
    a job that runs every so many minutes or hours follows the clock alone.
    """
    minute, hour, *_ = expression.split()
    by_clock = minute.startswith("*") or hour.startswith("*")
    find = _by_clock if by_clock else _at_certain_times
    return find(expression, ZoneInfo(zone), after)


def _by_clock(expression: str, zone: ZoneInfo, after: datetime) -> datetime:
    """Between two clock changes wall time runs evenly; a time beyond a change is searched for after it."""
    start, at, offset = after, after, _offset(after, zone)
    while True:
        wall = next(CronSim(expression, _wall(start, offset)), None)
        if wall is None:
            return after + _NEVER
        moment = wall.replace(tzinfo=UTC) - offset
        if _offset(moment, zone) == offset:
            return moment
        at = _change(at, moment, zone)
        start, offset = at - _SECOND, _offset(at, zone)


def _at_certain_times(expression: str, zone: ZoneInfo, after: datetime) -> datetime:
    for wall in CronSim(expression, _wall(after, _offset(after, zone))):
        while _in_gap(wall, zone):
            wall += _MINUTE  # noqa: PLW2901 - runs right after the gap
        moment = wall.replace(tzinfo=zone).astimezone(UTC)
        if moment > after:
            return moment
    return after + _NEVER


def _wall(moment: datetime, offset: timedelta) -> datetime:
    return (moment + offset).replace(tzinfo=None)


def _offset(moment: datetime, zone: ZoneInfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def _in_gap(wall: datetime, zone: ZoneInfo) -> bool:
    there = wall.replace(tzinfo=zone)
    return there.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != wall


def _change(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """Return the first second whose offset differs from that of *before*; *after* has such an offset."""
    low, high, offset = before, after, _offset(before, zone)
    while high - low > _SECOND:
        middle = low + (high - low) // 2
        low, high = (middle, high) if _offset(middle, zone) == offset else (low, middle)
    return high.replace(microsecond=0)
