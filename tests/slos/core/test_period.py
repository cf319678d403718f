"""Periods of SLOs: rolling days, and the months of a time zone."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.slos.core.budget import SloTally, budget, exhausted_at
from collector.slos.core.burning import limits
from collector.slos.core.period import PeriodSpan, span
from collector.slos.core.settings import Period

NOW = datetime(2026, 11, 21, 7, 24, tzinfo=UTC)
DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("period", "zone", "since", "until"),
    [
        pytest.param("7d", "UTC", "2026-11-14T07:00Z", "2026-11-21T07:24Z", id="rolling"),
        pytest.param("month", "UTC", "2026-11-01T00:00Z", "2026-12-01T00:00Z", id="month"),
        pytest.param("quarter", "Europe/Berlin", "2026-09-30T22:00Z", "2026-12-31T23:00Z", id="quarter"),
        pytest.param("year", "UTC", "2026-01-01T00:00Z", "2027-01-01T00:00Z", id="year"),
    ],
)
def test_a_period_contains_the_moment(period: Period, zone: str, since: str, until: str) -> None:
    found = span(period, zone, NOW)

    assert found == PeriodSpan(datetime.fromisoformat(since), datetime.fromisoformat(until))


def test_limits_are_those_of_the_workbook() -> None:
    assert limits("30d") == [(14.4, 1), (6.0, 6), (3.0, 24), (1.0, 72)]


def test_a_budget_is_the_allowed_share_of_the_period() -> None:
    whole = PeriodSpan(NOW - timedelta(days=30), NOW)

    found = budget(SloTally(30 * DAY_MS, 60_000, 30 * DAY_MS), 99.9, whole, NOW)

    assert found.total_ms == pytest.approx(43.2 * 60_000)
    assert found.remaining_ms == pytest.approx(42.2 * 60_000)


def test_a_budget_that_is_used_evenly_lasts_as_long_as_is_left() -> None:
    month = PeriodSpan(NOW - timedelta(days=10), NOW + timedelta(days=20))
    left = budget(SloTally(10 * DAY_MS, 0.0, 10 * DAY_MS), 99, month, NOW)
    half_a_day = SloTally(DAY_MS, DAY_MS / 40, DAY_MS)

    assert left.total_ms == pytest.approx(0.3 * DAY_MS)
    assert exhausted_at(left, half_a_day, month, NOW) == NOW + timedelta(days=12)
    assert exhausted_at(left, SloTally(DAY_MS, 0.0, DAY_MS), month, NOW) is None
