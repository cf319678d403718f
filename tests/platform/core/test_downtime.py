"""Durations as people read them."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.events.core.downtime import formatted, seconds

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (-5, "0s"),
        (0, "0s"),
        (45, "45s"),
        (60, "1m"),
        (332, "5m 32s"),
        (3600, "1h"),
        (3601, "1h"),
        (7500, "2h 5m"),
        (7559, "2h 5m"),
        (86_400, "1d"),
        (273_600, "3d 4h"),
        (86_400 * 400 + 59, "400d"),
    ],
)
def test_the_two_largest_units_are_shown(duration_s: int, text: str) -> None:
    assert formatted(duration_s) == text


@pytest.mark.parametrize(
    ("closed_s", "open_for", "total"),
    [
        pytest.param(30, None, 30, id="only closed spans"),
        pytest.param(30, timedelta(seconds=12.9), 42, id="the open span counts in whole seconds"),
        pytest.param(30, timedelta(seconds=-3), 30, id="a clock that stepped back takes nothing away"),
    ],
)
def test_downtime_is_the_sum_of_open_spans(closed_s: int, open_for: timedelta | None, total: int) -> None:
    assert seconds(closed_s, None if open_for is None else NOW - open_for, NOW) == total
