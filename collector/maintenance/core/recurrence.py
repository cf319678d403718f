"""Recurrence rules (RFC 5545): which are supported, and their parts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

MOST_TEXT = 500
_MOST_COUNT = 10_000
_MOST_A_DAY = 96
# At most ten years of hourly occurrences.
_MOST_INTERVAL = {"HOURLY": 8_784, "DAILY": 3_660, "WEEKLY": 520, "MONTHLY": 120, "YEARLY": 10}
_DAY = re.compile(r"([+-]?[1-9][0-9]?)?(MO|TU|WE|TH|FR|SA|SU)")
_WEEK = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_NUMBER = re.compile(r"[+-]?[0-9]{1,5}")
_WEEKS = 53
_BAD_UNTIL = "UNTIL must be a date, as 20261231, or a time, as 20261231T235959Z"
_UNTIL = re.compile(r"([0-9]{8})(?:T([0-9]{6})(Z?))?")
# The minimum and maximum of each list, and the frequencies that exclude it.
_LISTS: Mapping[str, tuple[int, int, frozenset[str]]] = {
    "BYSETPOS": (-366, 366, frozenset()),
    "BYMONTH": (1, 12, frozenset()),
    "BYMONTHDAY": (-31, 31, frozenset({"WEEKLY"})),
    "BYYEARDAY": (-366, 366, frozenset({"DAILY", "WEEKLY", "MONTHLY"})),
    "BYWEEKNO": (-53, 53, frozenset({"HOURLY", "DAILY", "WEEKLY", "MONTHLY"})),
    "BYHOUR": (0, 23, frozenset()),
    "BYMINUTE": (0, 59, frozenset()),
}
_KNOWN = {"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", *_LISTS}


class BadRule(ValueError):
    """An invalid or unsupported rule; the message says why."""


@dataclass(frozen=True, slots=True)
class RecurrenceRule:
    """*days* are (ordinal, weekday from Monday's 0): 0 is every one, -1 the last. Empty parts match all.

    *until* is the last local time or, with a time zone, the last instant.
    """

    frequency: str
    interval: int
    count: int | None
    until: datetime | None
    week_start: int
    months: frozenset[int]
    month_days: frozenset[int]
    year_days: frozenset[int]
    weeks: frozenset[int]
    days: frozenset[tuple[int, int]]
    hours: frozenset[int]
    minutes: frozenset[int]
    positions: frozenset[int]


def parse(text: str) -> RecurrenceRule:
    """Parse the rule in *text*. Raises BadRule."""
    parts = _parts(text)
    frequency = parts.get("FREQ", "")
    if frequency not in _MOST_INTERVAL:
        raise BadRule(f"FREQ must be one of {', '.join(_MOST_INTERVAL)}")
    if {"COUNT", "UNTIL"} <= parts.keys():
        raise BadRule("must not have both COUNT and UNTIL")
    lists = {name: _list(name, frequency, parts) for name in _LISTS}
    if parts.get("WKST", "MO") not in _WEEK:
        raise BadRule(f"WKST must be one of {', '.join(_WEEK)}")
    rule = RecurrenceRule(
        frequency=frequency,
        interval=_bounded("INTERVAL", parts.get("INTERVAL", "1"), _MOST_INTERVAL[frequency]),
        count=_bounded("COUNT", parts["COUNT"], _MOST_COUNT) if "COUNT" in parts else None,
        until=_until(parts["UNTIL"]) if "UNTIL" in parts else None,
        week_start=_WEEK.index(parts.get("WKST", "MO")),
        months=lists["BYMONTH"],
        month_days=lists["BYMONTHDAY"],
        year_days=lists["BYYEARDAY"],
        weeks=lists["BYWEEKNO"],
        days=_days(frequency, parts),
        hours=lists["BYHOUR"],
        minutes=lists["BYMINUTE"],
        positions=lists["BYSETPOS"],
    )
    _check(rule)
    return rule


def _parts(text: str) -> dict[str, str]:
    body = text.strip().upper().removeprefix("RRULE:").removesuffix(";")
    parts: dict[str, str] = {}
    for part in body.split(";"):
        name, equals, value = part.partition("=")
        if not (equals and value and name in _KNOWN):
            raise BadRule(f"{name[:30] or 'an empty part'} is no part of a rule that can be run")
        if name in parts:
            raise BadRule(f"{name} must stand only once")
        parts[name] = value
    return parts


def _list(name: str, frequency: str, parts: Mapping[str, str]) -> frozenset[int]:
    if name not in parts:
        return frozenset()
    least, most, barred = _LISTS[name]
    if frequency in barred:
        raise BadRule(f"{name} does not go with FREQ={frequency}")
    numbers = [_integer(name, item) for item in parts[name].split(",")]
    if not all(least <= number <= most and (number or not least) for number in numbers):
        raise BadRule(f"{name} must hold numbers from {least} to {most}" + ", not 0" * (least < 0))
    return frozenset(numbers)


def _days(frequency: str, parts: Mapping[str, str]) -> frozenset[tuple[int, int]]:
    counts = frequency == "MONTHLY" or (frequency == "YEARLY" and "BYWEEKNO" not in parts)
    days = []
    for item in parts["BYDAY"].split(",") if "BYDAY" in parts else []:
        day = _DAY.fullmatch(item)
        if day is None or abs(int(day[1] or 0)) > _WEEKS:
            raise BadRule("BYDAY must hold days such as MO, 1MO or -1FR")
        if day[1] and not counts:
            raise BadRule(f"BYDAY={item} does not go with the rest: only MONTHLY and YEARLY count weekdays")
        days.append((int(day[1] or 0), _WEEK.index(day[2])))
    return frozenset(days)


def _check(rule: RecurrenceRule) -> None:
    """Check that the parts of a rule fit each other. Raises BadRule."""
    given = (rule.months, rule.month_days, rule.year_days, rule.weeks, rule.days, rule.hours, rule.minutes)
    if rule.positions and not any(given):
        raise BadRule("BYSETPOS needs another BY part")
    hours = len(rule.hours) or (24 if rule.frequency == "HOURLY" else 1)
    if hours * (len(rule.minutes) or 1) > _MOST_A_DAY:
        raise BadRule(f"must not come more than {_MOST_A_DAY} times a day")


def _integer(name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise BadRule(f"{name} must hold whole numbers")
    return int(text)


def _bounded(name: str, text: str, most: int) -> int:
    if not 1 <= (number := _integer(name, text)) <= most:
        raise BadRule(f"{name} must be between 1 and {most}")
    return number


def _until(text: str) -> datetime:
    """A date means its end; with a Z it is an instant, else a local time of the window."""
    match = _UNTIL.fullmatch(text)
    if match is None:
        raise BadRule(_BAD_UNTIL)
    try:
        at = datetime.strptime(match[1] + (match[2] or "235959"), "%Y%m%d%H%M%S")  # noqa: DTZ007 - local time
    except ValueError:
        raise BadRule(_BAD_UNTIL) from None
    return at.replace(tzinfo=UTC) if match[3] else at
