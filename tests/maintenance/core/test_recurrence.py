"""Rules name the times that another implementation finds; what cannot be run is refused with its reason."""

from datetime import UTC, date, datetime, timedelta
from itertools import islice, takewhile

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.maintenance.core import recurrence_times
from collector.maintenance.core.recurrence import BadRule, RecurrenceRule, parse
from collector.maintenance.core.recurrence_times import times

FIRST = datetime(2026, 3, 17, 2, 30)  # noqa: DTZ001 - local time
DAY = timedelta(days=1)


def found(
    text: str, first: datetime = FIRST, since: datetime | None = None, most: int = 20
) -> list[datetime]:
    return list(islice(times(parse(text), first, since or first), most))


def expected(text: str, first: datetime, since: datetime, until: datetime) -> list[datetime]:
    return list(takewhile(lambda at: at <= until, rrulestr(text, dtstart=first).xafter(since, inc=True)))


def _listed(name: str, values: st.SearchStrategy[int], most: int = 3) -> st.SearchStrategy[str]:
    some = st.lists(values, min_size=1, max_size=most, unique=True)
    return st.one_of(st.just(""), some.map(lambda items: f";{name}={','.join(map(str, items))}"))


_signed = st.sampled_from([1, 2, 3, -1, -2])
_weekday = st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"])
_each = st.one_of(
    st.just(""),
    st.lists(_weekday, min_size=1, max_size=4, unique=True).map(lambda days: ";BYDAY=" + ",".join(days)),
)
_which = st.one_of(
    st.just(""),
    st.lists(st.tuples(_signed, _weekday), min_size=1, max_size=3, unique=True).map(
        lambda days: ";BYDAY=" + ",".join(f"{place}{day}" for place, day in days)
    ),
)
_month_days = _listed("BYMONTHDAY", st.sampled_from([1, 2, 13, 15, 28, -1, -2, -28]))
_months = _listed("BYMONTH", st.integers(1, 12), 6)
_clock = st.tuples(_listed("BYHOUR", st.integers(0, 23)), _listed("BYMINUTE", st.integers(0, 59))).map(
    "".join
)
_interval = st.integers(1, 5).map(lambda number: f";INTERVAL={number}")
_week = st.one_of(st.just(""), _weekday.map(lambda day: f";WKST={day}"))


def _rules(frequency: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(_interval, *parts, _clock, _week).map(lambda made: f"FREQ={frequency}" + "".join(made))


# Only such as always come again: the other implementation looks for the rest for a long time.
_rule = st.one_of(
    _rules("DAILY", _months, _each),
    _rules("DAILY", _month_days),
    _rules("WEEKLY", _each, _months),
    _rules("MONTHLY", _each, _month_days),
    _rules("MONTHLY", _which),
    _rules("YEARLY", _months, _month_days),
    _rules("YEARLY", _months, _which),
    _rules("YEARLY", _which),
    _rules("YEARLY", _listed("BYYEARDAY", st.sampled_from([1, 59, 60, 100, 365, -1, -306, -307]))),
    _rules("YEARLY", _listed("BYWEEKNO", st.sampled_from([2, 20, 51, -2])), _each),
    st.tuples(_interval, _listed("BYMINUTE", st.integers(0, 59))).map(
        lambda made: "FREQ=HOURLY" + "".join(made)
    ),
    st.tuples(_interval, _each, _month_days).map(lambda made: "FREQ=HOURLY" + "".join(made)),
    _listed("BYHOUR", st.integers(0, 23)).map(lambda hours: f"FREQ=HOURLY;BYDAY=TU,FR{hours}"),
)


@settings(max_examples=150, deadline=None)
@given(rule=_rule, day=st.integers(0, 800), ahead=st.integers(0, 90), count=st.integers(0, 60))
def test_rules_name_the_times_that_another_implementation_finds(
    rule: str, day: int, ahead: int, count: int
) -> None:
    first = FIRST + day * DAY
    text = f"{rule};COUNT={count}" if count else rule
    since = first + ahead * DAY
    until = since + 400 * DAY
    assert [at for at in found(text, first, since, 200) if at <= until] == expected(
        text, first, since, until
    )[:200]


@settings(max_examples=50, deadline=None)
@given(
    rule=st.one_of(_rules("MONTHLY", _each), _rules("YEARLY", _months)), places=_listed("BYSETPOS", _signed)
)
def test_places_in_a_set_are_those_that_another_implementation_finds(rule: str, places: str) -> None:
    # Another one counts from the beginning of the rule in its first period, and not from the period's.
    first = FIRST.replace(month=1, day=1, hour=0, minute=0)
    text = f"{rule};BYMINUTE=0,30{places}".replace(
        ";BYMINUTE=0,30", "" if "BYMINUTE" in rule else ";BYMINUTE=0,30"
    )
    until = first + 900 * DAY
    assert [at for at in found(text, first, first, 100) if at <= until] == expected(
        text, first, first, until
    )[:100]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        pytest.param("FREQ=MONTHLY;BYDAY=2TU", ["2026-04-14", "2026-05-12"], id="patch day"),
        pytest.param(
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", ["2026-03-31", "2026-04-30"], id="last workday"
        ),
        pytest.param(
            "FREQ=MONTHLY;BYDAY=MO,1TU", ["2026-03-23", "2026-03-30"], id="one weekday or the other"
        ),
        pytest.param("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", ["2028-02-29", "2032-02-29"], id="leap day"),
        pytest.param("rrule:freq=weekly;byday=tu;", ["2026-03-17", "2026-03-24"], id="as others write it"),
        pytest.param("FREQ=DAILY;UNTIL=20260317", ["2026-03-17"], id="a last day is one of them"),
        pytest.param(
            "FREQ=DAILY;UNTIL=20260318T023000", ["2026-03-17", "2026-03-18"], id="so is a last time"
        ),
    ],
)
def test_what_people_ask_for(text: str, days: list[str]) -> None:
    assert [f"{at:%Y-%m-%d}" for at in found(text, most=len(days) + 1)][: len(days)] == days


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an empty part is no part of a rule that can be run"),
        ("every tuesday", "EVERY TUESDAY is no part of a rule that can be run"),
        ("FREQ=MINUTELY", "FREQ must be one of HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY"),
        ("FREQ=SECONDLY", "FREQ must be one of HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY"),
        ("INTERVAL=2", "FREQ must be one of HOURLY, DAILY, WEEKLY, MONTHLY, YEARLY"),
        ("FREQ=DAILY;FREQ=DAILY", "FREQ must stand only once"),
        ("FREQ=DAILY;BYSECOND=1", "BYSECOND is no part of a rule that can be run"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL must be between 1 and 3660"),
        ("FREQ=DAILY;INTERVAL=-1", "INTERVAL must be between 1 and 3660"),
        ("FREQ=DAILY;INTERVAL=999999999999", "INTERVAL must hold whole numbers"),
        ("FREQ=DAILY;COUNT=1.5", "COUNT must hold whole numbers"),
        ("FREQ=DAILY;COUNT=10001", "COUNT must be between 1 and 10000"),
        ("FREQ=DAILY;COUNT=1;UNTIL=20261231", "must not have both COUNT and UNTIL"),
        ("FREQ=DAILY;UNTIL=20261331", "UNTIL must be a date, as 20261231, or a time, as 20261231T235959Z"),
        ("FREQ=DAILY;UNTIL=tomorrow", "UNTIL must be a date, as 20261231, or a time, as 20261231T235959Z"),
        ("FREQ=WEEKLY;BYDAY=XX", "BYDAY must hold days such as MO, 1MO or -1FR"),
        ("FREQ=MONTHLY;BYDAY=99MO", "BYDAY must hold days such as MO, 1MO or -1FR"),
        (
            "FREQ=WEEKLY;BYDAY=1MO",
            "BYDAY=1MO does not go with the rest: only MONTHLY and YEARLY count weekdays",
        ),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY does not go with FREQ=WEEKLY"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY must hold numbers from -31 to 31, not 0"),
        ("FREQ=DAILY;BYHOUR=24", "BYHOUR must hold numbers from 0 to 23"),
        ("FREQ=DAILY;BYHOUR=1,,2", "BYHOUR must hold whole numbers"),
        ("FREQ=DAILY;BYSETPOS=1", "BYSETPOS needs another BY part"),
        ("FREQ=WEEKLY;WKST=1", "WKST must be one of MO, TU, WE, TH, FR, SA, SU"),
        ("FREQ=HOURLY;BYMINUTE=0,10,20,30,40", "must not come more than 96 times a day"),
    ],
)
def test_what_cannot_be_run_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(BadRule) as caught:
        parse(text)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;COUNT=9;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMINUTE=1,2,3,4;BYSETPOS=366",
        "FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=3",
        "FREQ=HOURLY;INTERVAL=24;BYHOUR=5",
        "FREQ=HOURLY;INTERVAL=2;BYHOUR=3",
        "FREQ=DAILY;BYMINUTE=0;BYSETPOS=9",
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=9",
        "FREQ=YEARLY;INTERVAL=10;BYWEEKNO=1;BYMONTH=6",
    ],
)
def test_a_rule_that_names_no_time_is_seen_through_soon(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[date] = []
    fits = recurrence_times._fits

    def noted(rule: RecurrenceRule, day: date) -> bool:
        looked.append(day)
        return fits(rule, day)

    monkeypatch.setattr(recurrence_times, "_fits", noted)

    assert found(text) == []
    assert len(looked) == len(set(looked)), "no day is looked at twice, not for each of its hours"


def test_a_moment_may_end_it_wherever_its_clock_stands() -> None:
    assert parse("FREQ=DAILY;UNTIL=20261231T235959Z").until == datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
