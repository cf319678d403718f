"""The local times of a recurrence rule, period by period; a rule without any costs little."""

from calendar import isleap, monthrange
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import product
from math import gcd

from collector.maintenance.core.recurrence import RecurrenceRule

_HOUR, _DAY, _WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)
_SECOND = timedelta(seconds=1)
_STEPS = {"HOURLY": _HOUR, "DAILY": _DAY, "WEEKLY": _WEEK}
# A rule without an occurrence within this time counts as finished.
_SEARCH = {"HOURLY": timedelta(days=366 * 5)}
_LONG_SEARCH = timedelta(days=366 * 40)
_MOST_DAYS = {"HOURLY": 1, "DAILY": 1, "WEEKLY": 7, "MONTHLY": 31, "YEARLY": 366}


def times(rule: RecurrenceRule, first: datetime, since: datetime) -> Iterator[datetime]:
    """Local times from *since* on, in order, of a rule that starts at *first*; ignores an UNTIL instant."""
    full = _filled(rule, first)
    bound = _bound(rule, first, since)
    begin = _period(full, first)
    skipped = 0 if rule.count else max(0, _number(full, begin, since) - 1)
    if not _may_come(full, begin):
        return
    number, taken = skipped, 0
    while (period := _later(full, begin, number)) <= bound:
        if _no_hour_of(full, period):
            number = max(number + 1, _number(full, begin, _day_after(period) - _SECOND) + 1)
            continue
        number += 1
        for at in _of_period(full, period, first):
            taken += at >= first
            if at > bound or (rule.count is not None and taken > rule.count):
                return
            if at >= since and at >= first:
                yield at


def _may_come(rule: RecurrenceRule, begin: datetime) -> bool:
    """Whether the rule can match at all: positions must fit into a period, hours must be reachable."""
    a_day = len(rule.minutes) * (1 if rule.frequency == "HOURLY" else len(rule.hours))
    if rule.positions and min(map(abs, rule.positions)) > _MOST_DAYS[rule.frequency] * a_day:
        return False
    apart = gcd(rule.interval, 24)
    hourly = rule.frequency == "HOURLY" and rule.hours
    return not hourly or any((hour - begin.hour) % apart == 0 for hour in rule.hours)


def _no_hour_of(rule: RecurrenceRule, period: datetime) -> bool:
    """Whether an hourly rule excludes this whole day, so that its hours need not be checked."""
    return rule.frequency == "HOURLY" and not _fits(rule, period.date())


def _day_after(at: datetime) -> datetime:
    return datetime.combine(at, time()) + _DAY


def _filled(rule: RecurrenceRule, first: datetime) -> RecurrenceRule:
    """Fill omitted parts of the rule from its start time."""
    hourly = rule.frequency == "HOURLY"
    hours = rule.hours or (frozenset() if hourly else frozenset({first.hour}))
    full = replace(rule, hours=hours, minutes=rule.minutes or frozenset({first.minute}))
    if rule.month_days or rule.year_days or rule.weeks or rule.days:
        return full
    match rule.frequency:
        case "YEARLY":
            months = rule.months or frozenset({first.month})
            return replace(full, months=months, month_days=frozenset({first.day}))
        case "MONTHLY":
            return replace(full, month_days=frozenset({first.day}))
        case "WEEKLY":
            return replace(full, days=frozenset({(0, first.weekday())}))
    return full


def _bound(rule: RecurrenceRule, first: datetime, since: datetime) -> datetime:
    search = _SEARCH.get(rule.frequency, _LONG_SEARCH)
    bound = (first if rule.count is not None else max(first, since)) + search
    return bound if rule.until is None or rule.until.tzinfo is not None else min(bound, rule.until)


def _period(rule: RecurrenceRule, at: datetime) -> datetime:
    """The start of the period that contains *at*."""
    if rule.frequency == "HOURLY":
        return at.replace(minute=0, second=0)
    day = datetime.combine(at, time())
    match rule.frequency:
        case "YEARLY":
            return day.replace(month=1, day=1)
        case "MONTHLY":
            return day.replace(day=1)
        case "WEEKLY":
            return day - (day.weekday() - rule.week_start) % 7 * _DAY
    return day


def _number(rule: RecurrenceRule, begin: datetime, at: datetime) -> int:
    """The number of intervals from *begin*'s period to *at*'s."""
    match rule.frequency:
        case "YEARLY":
            return (at.year - begin.year) // rule.interval
        case "MONTHLY":
            return ((at.year - begin.year) * 12 + at.month - begin.month) // rule.interval
    return (at - begin) // (_STEPS[rule.frequency] * rule.interval)


def _later(rule: RecurrenceRule, begin: datetime, number: int) -> datetime:
    """The start of the period *number* intervals after *begin*'s."""
    match rule.frequency:
        case "YEARLY":
            return begin.replace(year=begin.year + number * rule.interval)
        case "MONTHLY":
            years, month = divmod(begin.month - 1 + number * rule.interval, 12)
            return begin.replace(year=begin.year + years, month=month + 1)
    return begin + number * rule.interval * _STEPS[rule.frequency]


def _of_period(rule: RecurrenceRule, period: datetime, first: datetime) -> Iterator[datetime]:
    days = [day for day in _days(rule, period) if _fits(rule, day)]
    hours = rule.hours
    if rule.frequency == "HOURLY":
        hours = frozenset({period.hour}) if not rule.hours or period.hour in rule.hours else frozenset()
    a_day = len(hours) * len(rule.minutes)
    places: Sequence[int] = range(len(days) * a_day)
    if rule.positions:
        total = len(places)
        wanted = {place - 1 if place > 0 else total + place for place in rule.positions}
        places = sorted(place for place in wanted if 0 <= place < total)
    if not places:
        return iter(())
    clock = [time(*parts, first.second) for parts in product(sorted(hours), sorted(rule.minutes))]
    return (datetime.combine(days[place // a_day], clock[place % a_day]) for place in places)


def _days(rule: RecurrenceRule, period: datetime) -> Sequence[date]:
    first = period.date()
    match rule.frequency:
        case "YEARLY":
            length = 365 + isleap(first.year)
        case "MONTHLY":
            length = monthrange(first.year, first.month)[1]
        case "WEEKLY":
            length = 7
        case _:
            length = 1
    return [first + number * _DAY for number in range(length)]


def _fits(rule: RecurrenceRule, day: date) -> bool:
    if rule.months and day.month not in rule.months:
        return False
    month_days, year_days = monthrange(day.year, day.month)[1], 365 + isleap(day.year)
    of_year = day.timetuple().tm_yday
    return (
        _listed(rule.month_days, day.day, month_days)
        and _listed(rule.year_days, of_year, year_days)
        and (not rule.weeks or _in_weeks(rule, day))
        and (not rule.days or _is_weekday(rule, day, month_days, of_year, year_days))
    )


def _listed(wanted: frozenset[int], number: int, of: int) -> bool:
    """Whether *wanted* contains the number; negative entries count from the end."""
    return not wanted or number in wanted or number - of - 1 in wanted


def _in_weeks(rule: RecurrenceRule, day: date) -> bool:
    number, year = _week(rule, day)
    return _listed(rule.weeks, number, _week(rule, date(year, 12, 28))[0])


def _week(rule: RecurrenceRule, day: date) -> tuple[int, int]:
    """The week's number and its year, which is the year of its fourth day."""
    fourth = day + (3 - (day.weekday() - rule.week_start) % 7) * _DAY
    return (fourth.timetuple().tm_yday - 1) // 7 + 1, fourth.year


def _is_weekday(rule: RecurrenceRule, day: date, month_days: int, of_year: int, year_days: int) -> bool:
    weekday = day.weekday()
    if (0, weekday) in rule.days:
        return True
    by_month = rule.frequency == "MONTHLY" or rule.months
    place, of = (day.day, month_days) if by_month else (of_year, year_days)
    return ((place - 1) // 7 + 1, weekday) in rule.days or (-((of - place) // 7 + 1), weekday) in rule.days
