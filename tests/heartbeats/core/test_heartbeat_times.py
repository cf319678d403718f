"""When cron runs a job next, whatever the clocks on the wall do: by hand, and by an independent oracle."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil import tz
from dateutil.rrule import DAILY, rrule
from hypothesis import given
from hypothesis import strategies as st

from collector.heartbeats.core.times import fault, following

BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"
MINUTE = timedelta(minutes=1)


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


# A zone, an expression, after when (on its clocks), and the next times in UTC, worked out by hand.
TABLE = [
    (BERLIN, "30 2 * * *", "2026-03-28 12:00", ["2026-03-29 01:00", "2026-03-30 00:30"]),
    (BERLIN, "30 2 * * *", "2026-10-24 12:00", ["2026-10-25 00:30", "2026-10-26 01:30"]),
    (BERLIN, "0 * * * *", "2026-03-29 01:30", ["2026-03-29 01:00", "2026-03-29 02:00"]),
    (BERLIN, "0 * * * *", "2026-10-25 01:30", ["2026-10-25 00:00", "2026-10-25 01:00", "2026-10-25 02:00"]),
    (BERLIN, "*/30 2 * * *", "2026-10-25 01:59",
     ["2026-10-25 00:00", "2026-10-25 00:30", "2026-10-25 01:00", "2026-10-25 01:30"]),
    (BERLIN, "*/30 2 * * *", "2026-03-28 12:00", ["2026-03-30 00:00"]),
    (NEW_YORK, "30 2 * * *", "2026-03-07 12:00", ["2026-03-08 07:00", "2026-03-09 06:30"]),
    (NEW_YORK, "30 1 * * *", "2026-10-31 12:00", ["2026-11-01 05:30", "2026-11-02 06:30"]),
    (NEW_YORK, "0 9 * * MON-FRI", "2026-11-20 12:00", ["2026-11-23 14:00"]),
    (LORD_HOWE, "15 2 * * *", "2026-10-03 12:00", ["2026-10-03 15:30", "2026-10-04 15:15"]),
    (LORD_HOWE, "45 1 * * *", "2026-04-04 12:00", ["2026-04-04 14:45", "2026-04-05 15:15"]),
    (LORD_HOWE, "*/15 3 * * *", "2026-10-04 01:50", ["2026-10-03 16:00", "2026-10-03 16:15"]),
    (LORD_HOWE, "*/15 * * * *", "2026-10-04 01:50", ["2026-10-03 15:30", "2026-10-03 15:45"]),
    ("UTC", "0 0 29 2 *", "2026-01-01 00:00", ["2028-02-29 00:00"]),
]  # fmt: skip


@pytest.mark.parametrize(("zone", "expression", "after", "expected"), TABLE)
def test_a_job_is_awaited_when_cron_runs_it(
    zone: str, expression: str, after: str, expected: list[str]
) -> None:
    moments, moment = [], at(after, zone)
    for _ in expected:
        moment = following(expression, zone, moment)
        moments.append(moment)

    assert moments == [at(text) for text in expected]


CHANGES = [
    (BERLIN, "2026-03-29"), (BERLIN, "2026-10-25"), (NEW_YORK, "2026-03-08"), (NEW_YORK, "2026-11-01"),
    (LORD_HOWE, "2026-04-05"), (LORD_HOWE, "2026-10-04"),
]  # fmt: skip


def oracle(minutes: set[int], hours: set[int], zone: str, after: datetime) -> datetime:
    """Walks real time minute by minute and reads the clock on the wall: what `* * * * *` jobs go by."""
    moment = after.replace(second=0, microsecond=0) + MINUTE
    while True:
        wall = moment.astimezone(ZoneInfo(zone))
        if wall.minute in minutes and wall.hour in hours:
            return moment
        moment += MINUTE


@given(
    st.sampled_from(CHANGES),
    st.integers(min_value=-1500, max_value=1500),
    st.sampled_from([1, 5, 15, 20, 30]),
    st.sets(st.integers(min_value=0, max_value=23), min_size=1, max_size=4) | st.none(),
)
def test_jobs_that_go_by_the_clock_are_found_as_an_oracle_finds_them(
    change: tuple[str, str], minutes: int, step: int, hours: set[int] | None
) -> None:
    zone, day = change
    after = at(f"{day} 02:00", zone) + minutes * MINUTE
    hour = "*" if hours is None else ",".join(map(str, sorted(hours)))

    moment = following(f"*/{step} {hour} * * *", zone, after)

    assert moment == oracle(set(range(0, 60, step)), hours or set(range(24)), zone, after)


@given(
    st.sampled_from(CHANGES),
    st.integers(min_value=0, max_value=59),
    st.integers(min_value=0, max_value=23),
    st.integers(min_value=-90, max_value=90),
)
def test_a_job_at_a_certain_time_runs_once_on_every_day(
    change: tuple[str, str], minute: int, hour: int, seconds: int
) -> None:
    zone, day = change
    moment = at(f"{day} 12:00", zone) - timedelta(days=2) + timedelta(seconds=seconds)
    days = []
    for _ in range(4):
        after, moment = moment, following(f"{minute} {hour} * * *", zone, moment)
        assert moment > after
        days.append(moment.astimezone(ZoneInfo(zone)).date())

    assert [(later - sooner).days for sooner, later in pairwise(days)] == [1, 1, 1]


# Days on which clocks change: by an hour or half of one, at night, at midnight, and by a whole day.
LEAPS = [
    (BERLIN, "2026-03-29"), (BERLIN, "2026-10-25"), (NEW_YORK, "2026-03-08"), (NEW_YORK, "2026-11-01"),
    (LORD_HOWE, "2026-04-05"), (LORD_HOWE, "2026-10-04"), ("America/Sao_Paulo", "2018-11-04"),
    ("America/Sao_Paulo", "2018-02-18"), ("Asia/Beirut", "2022-03-27"), ("Africa/Casablanca", "2026-02-15"),
    ("America/Havana", "2025-11-02"), ("Pacific/Apia", "2011-12-30"), ("Asia/Kolkata", "2026-03-29"),
]  # fmt: skip
WEEKDAYS = {"*": None, "MON-FRI": (0, 1, 2, 3, 4), "SUN": (6,), "SAT,SUN": (5, 6)}


def by_calendar(
    minutes: list[int], hours: list[int], days: str, zone: str, after: datetime
) -> list[datetime]:
    """The next four, by dateutil's calendar and its clocks."""
    there = tz.gettz(zone)
    wall = after.astimezone(there).replace(tzinfo=None)
    rule = rrule(
        DAILY, wall - timedelta(days=2), byminute=minutes, byhour=hours, bysecond=0, byweekday=WEEKDAYS[days]
    )
    moments: set[datetime] = set()
    for when in rule:
        exists = tz.datetime_exists(when, there)
        moments.add(when.replace(tzinfo=there).astimezone(UTC) if exists else behind_the_gap(when, there))
        if len(ahead := sorted(moment for moment in moments if moment > after)) > 4:
            return ahead[:4]
    raise AssertionError(rule)


def behind_the_gap(when: datetime, there: Any) -> datetime:
    """The first minute at which the clocks show a later time than one that they leave out."""
    start = (when - timedelta(hours=30)).replace(tzinfo=there).astimezone(UTC)
    low, high = 0, 4000
    while low < high:
        middle = (low + high) // 2
        shown = (start + middle * MINUTE).astimezone(there).replace(tzinfo=None)
        low, high = (low, middle) if shown >= when else (middle + 1, high)
    return start + low * MINUTE


@given(
    st.sampled_from(LEAPS),
    st.integers(min_value=-3000, max_value=3000),
    st.lists(st.integers(0, 59), min_size=1, max_size=3, unique=True),
    st.lists(st.integers(0, 23), min_size=1, max_size=3, unique=True),
    st.sampled_from(sorted(WEEKDAYS)),
)
def test_jobs_at_certain_times_are_found_as_a_calendar_finds_them(
    leap: tuple[str, str], minutes: int, minute: list[int], hour: list[int], days: str
) -> None:
    zone, day = leap
    after = at(f"{day} 12:00") + minutes * MINUTE
    expression = f"{','.join(map(str, minute))} {','.join(map(str, hour))} * * {days}"

    moments, moment = [], after
    for _ in range(4):
        moment = following(expression, zone, moment)
        moments.append(moment)

    assert moments == by_calendar(minute, hour, days, zone, after)


@pytest.mark.parametrize(
    "expression",
    ["", "* * * *", "0 0 * * * *", "61 * * * *", "0 0 30 2 *", "@daily", "a b c d e", "0 0 0 0 0"],
)
def test_what_never_comes_true_is_told(expression: str) -> None:
    assert fault(expression)


@pytest.mark.parametrize(
    "expression", ["* * * * *", "0 3 * * SUN", "0 0 L * *", "0 0 29 2 *", "5,10-20/2 1 * JAN *"]
)
def test_what_cron_takes_is_taken(expression: str) -> None:
    assert fault(expression) is None
