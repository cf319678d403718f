"""Uptime is one less the outages' share of the known time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from collector.core.uptime import Outage, percent

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def outage(start: float, end: float, seconds: float | None = None) -> Outage:
    return Outage(at(start), at(end), (end - start) * 60 if seconds is None else seconds)


@pytest.mark.parametrize(
    ("outages", "uptime"),
    [
        pytest.param([], 100.0, id="no outage"),
        pytest.param([outage(0, 25)], 75.0, id="a quarter of the time"),
        pytest.param([outage(-50, 25)], 75.0, id="what lies before counts not"),
        pytest.param([outage(75, 200)], 75.0, id="nor what lies after"),
        pytest.param([outage(-9, -5), outage(200, 300)], 100.0, id="nor what is outside altogether"),
        pytest.param([outage(-1, 101)], 0.0, id="all of it"),
        pytest.param([outage(0, 10), outage(50, 60)], 80.0, id="two"),
        pytest.param([outage(0, 100, seconds=600)], 90.0, id="of an incident that was closed between"),
    ],
)
def test_percent_of_a_hundred_minutes(outages: Sequence[Outage], uptime: float) -> None:
    assert percent(outages, at(0), at(100)) == uptime


def test_no_known_time_is_no_downtime() -> None:
    assert percent([outage(0, 10)], at(5), at(5)) == 100.0
