"""Windows of charts: steps, and which rollups may answer for which part."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.history.core import window
from collector.history.core.window import DAY, HOUR, MOST_POINTS, Between

T0 = datetime(2026, 3, 4, tzinfo=UTC)
MINUTE = timedelta(minutes=1)

moments = st.integers(0, 200 * 24 * 60).map(lambda minutes: T0 + minutes * MINUTE)
lengths = st.integers(1, 10 * 24 * 60).map(lambda minutes: minutes * MINUTE)


@pytest.mark.parametrize(
    ("length", "step"),
    [
        pytest.param(HOUR, MINUTE, id="an hour by minutes"),
        pytest.param(6 * HOUR, 5 * MINUTE, id="some hours by five minutes"),
        pytest.param(DAY, HOUR, id="a day by hours"),
        pytest.param(7 * DAY, 6 * HOUR, id="a week by quarters of a day"),
        pytest.param(90 * DAY, DAY, id="a quarter by days"),
        pytest.param(365 * DAY, 7 * DAY, id="a year by weeks"),
    ],
)
def test_a_window_has_a_fitting_step(length: timedelta, step: timedelta) -> None:
    assert window.default_step(length) == step


def test_where_only_hours_are_kept_no_step_is_shorter() -> None:
    assert window.default_step(HOUR, hours=True) == HOUR


@given(moments, st.integers(1, 10**9).map(lambda seconds: timedelta(seconds=seconds)))
def test_no_window_has_more_than_a_hundred_points_by_itself(since: datetime, length: timedelta) -> None:
    assert 1 <= window.count(since, since + length, window.default_step(length)) <= MOST_POINTS // 10


@given(moments, lengths, st.sampled_from((7 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY)))
def test_steps_follow_each_other_from_end_to_end(since: datetime, length: timedelta, step: timedelta) -> None:
    points = window.points(since, since + length, step)

    assert len(points) == window.count(since, since + length, step)
    assert points[0][0] == since
    assert points[-1][1] == since + length
    assert all(one[1] == following[0] for one, following in pairwise(points))
    assert all(window.floor(start, step) == start for start, _ in points[1:])


@given(
    moments,
    lengths,
    st.sampled_from((7 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY)),
    st.none() | moments,
    st.lists(moments.map(lambda at: window.floor(at, HOUR)), max_size=4),
)
def test_every_moment_is_answered_once_and_by_what_is_true(
    since: datetime, length: timedelta, step: timedelta, rolled: datetime | None, dirty: list[datetime]
) -> None:
    rolled = rolled and window.floor(rolled, HOUR)
    until = since + length

    parts = window.divide(since, until, step, rolled_until=rolled, dirty=dirty)

    every = sorted([*parts.days, *parts.hours, *parts.raw])
    assert every[0][0] == since
    assert every[-1][1] == until
    assert all(one[1] == following[0] for one, following in pairwise(every))
    for start, end in (*parts.days, *parts.hours):
        assert window.floor(start, HOUR) == start
        assert window.floor(end, HOUR) == end
        assert rolled is not None
        assert end <= rolled
        assert not any(start <= at < end for at in dirty)
    assert all(window.floor(at, DAY) == at for span in parts.days for at in span)
    assert not parts.days or not step % DAY
    assert window.by_hours(step) or parts.raw == [(since, until)]


def test_far_spans_are_asked_for_apart() -> None:
    near: list[Between] = [(T0, T0 + HOUR), (T0 + DAY, T0 + DAY + HOUR)]
    far: Between = (T0 + 30 * DAY, T0 + 30 * DAY + HOUR)

    assert window.clusters([far, *near, (T0, T0)]) == [near, [far]]
