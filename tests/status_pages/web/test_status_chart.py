"""The chart of response times, from the hours that are known."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.status_pages.storage.speed import Hour
from collector.status_pages.web.chart import HEIGHT, HOURS, chart

NOW = datetime(2026, 11, 21, 12, 34, tzinfo=UTC)
FIRST = NOW.replace(minute=0) - timedelta(hours=HOURS)


def hours(*means: float | None) -> list[Hour]:
    """One after the other, from the first of the chart."""
    return [Hour(FIRST + timedelta(hours=at), mean) for at, mean in enumerate(means) if mean is not None]


@pytest.mark.parametrize("known", [hours(), hours(5.0), hours(None, 5.0)])
def test_less_than_two_hours_are_no_chart(known: list[Hour]) -> None:
    assert chart(known, NOW) is None


def test_hours_that_are_not_known_are_a_gap() -> None:
    drawn = chart(hours(10, 20, None, 30), NOW)

    assert drawn is not None
    assert (drawn.path.count("M"), drawn.mean, drawn.highest) == (2, 20, 30)


def test_hours_before_the_chart_are_left_out() -> None:
    early = [Hour(FIRST - timedelta(hours=1), 1e9)]

    assert chart([*early, *hours(10, 20)], NOW) == chart(hours(10, 20), NOW)


@given(st.lists(st.none() | st.floats(0, 1e7), min_size=HOURS, max_size=HOURS))
def test_what_is_drawn_is_inside_whatever_was_measured(means: list[float | None]) -> None:
    drawn = chart(hours(*means), NOW)

    if drawn is not None:
        for points in re.findall(r"L([^H]+)H", drawn.path):
            heights = [int(text) for text in points.split()[1::2]]
            assert all(0 <= height <= HEIGHT for height in heights)
