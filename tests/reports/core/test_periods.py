"""Periods by the calendar of a zone, business hours, and times that add up."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.history.core.uptime import Span
from collector.reports.core import accounts, business_hours, periods
from collector.reports.core.accounts import MeasuredTime
from collector.reports.core.periods import Days, PeriodKind

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("kind", "day", "first", "last", "before"),
    [
        (PeriodKind.WEEK, "2026-10-14", "2026-10-12", "2026-10-18", "2026-10-05"),
        (PeriodKind.WEEK, "2026-01-01", "2025-12-29", "2026-01-04", "2025-12-22"),
        (PeriodKind.MONTH, "2026-02-28", "2026-02-01", "2026-02-28", "2026-01-01"),
        (PeriodKind.MONTH, "2024-02-29", "2024-02-01", "2024-02-29", "2024-01-01"),
        (PeriodKind.MONTH, "2026-12-31", "2026-12-01", "2026-12-31", "2026-11-01"),
        (PeriodKind.QUARTER, "2026-11-26", "2026-10-01", "2026-12-31", "2026-07-01"),
        (PeriodKind.QUARTER, "2026-03-31", "2026-01-01", "2026-03-31", "2025-10-01"),
    ],
)
def test_a_day_lies_in_its_period(kind: PeriodKind, day: str, first: str, last: str, before: str) -> None:
    days = periods.containing(kind, date.fromisoformat(day))

    assert days == Days(date.fromisoformat(first), date.fromisoformat(last))
    assert periods.before(kind, days).first == date.fromisoformat(before)


def test_a_custom_period_is_compared_with_as_many_days_before() -> None:
    days = Days(date(2026, 10, 10), date(2026, 10, 12))

    assert periods.before(PeriodKind.CUSTOM, days) == Days(date(2026, 10, 7), date(2026, 10, 9))


def test_a_month_with_a_change_of_clocks_has_an_hour_more() -> None:
    since, until = periods.span(Days(date(2026, 10, 1), date(2026, 10, 31)), BERLIN)

    assert (since, until) == (
        datetime(2026, 9, 30, 22, tzinfo=UTC),
        datetime(2026, 10, 31, 23, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("now", "missed"),
    [
        ("2026-11-01T04:59:00", []),
        ("2026-11-01T05:00:00", ["2026-10-01"]),
        ("2027-01-20T00:00:00", ["2026-10-01", "2026-11-01", "2026-12-01"]),
        ("2029-01-20T00:00:00", None),
    ],
)
def test_missed_months_are_made_up_for_up_to_a_year(now: str, missed: list[str] | None) -> None:
    found = periods.missed(
        PeriodKind.MONTH, date(2026, 10, 1), BERLIN, 6, datetime.fromisoformat(f"{now}+00:00")
    )

    if missed is None:
        assert (len(found), found[-1].first) == (12, date(2028, 12, 1))
    else:
        assert [each.first.isoformat() for each in found] == missed


@pytest.mark.parametrize(
    "text", ["", "Mo", "Mo-Fr", "Fr-Mo 08:00-18:00", "Mo 18:00-08:00", "Mo 8:00-18:00", "Mo 08:00-25:00"]
)
def test_hours_that_make_no_sense_are_refused(text: str) -> None:
    assert not business_hours.is_open_times(text)


def test_business_hours_follow_the_clock_of_the_zone() -> None:
    hours = business_hours.parse("Fr-Sa 22:00-24:00, Sa-Su 00:00-01:00")
    since, until = periods.span(Days(date(2026, 10, 23), date(2026, 10, 25)), BERLIN)

    shown = [
        f"{start:%d %H:%M}-{end:%d %H:%M}" for start, end in business_hours.spans(hours, BERLIN, since, until)
    ]

    # Friday's evening runs into Saturday; after midnight it is summer time still.
    assert shown == ["23 20:00-23 23:00", "24 20:00-24 23:00"]


@pytest.mark.parametrize(
    ("up", "down", "shown"),
    [
        (1_000_000_000, 1, 99.999),
        (999_996, 4, 99.999),
        (999_995, 5, 99.999),
        (1, 0, 100.0),
        (0, 1, 0.0),
        (0, 0, None),
        (2, 1, 66.666),
    ],
)
def test_uptime_is_rounded_down(up: int, down: int, shown: float | None) -> None:
    assert accounts.uptime(up, down) == shown


_span = st.tuples(st.integers(0, 1000), st.integers(0, 1000)).map(lambda pair: (min(pair), max(pair)))
_spans = st.lists(_span, max_size=5)


@given(
    known=st.integers(0, 1100),
    down=st.integers(0, 1100),
    paused=_spans,
    maintenance=_spans,
    cut=st.integers(1, 999),
)
def test_the_times_add_up_whatever_they_are_made_of(
    known: int, down: int, paused: list[Span], maintenance: list[Span], cut: int
) -> None:
    for spans in ([(0, 1000)], [(0, cut), (cut, 1000)]):
        time = accounts.account(spans, MeasuredTime(known, down), paused, maintenance)

        parts = (time.up_ms, time.down_ms, time.maintenance_ms, time.paused_ms, time.unknown_ms)
        assert sum(parts) == time.period_ms == 1000
        assert min(parts) >= 0
