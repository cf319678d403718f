"""Uptime is one less the outages' share of the known time; both as intervals, against sets of moments."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.history.core.uptime import Span, cover_s, intersection, known, length_ms, share, union

MOMENTS = 60
SPAN = st.tuples(st.integers(0, MOMENTS), st.integers(0, MOMENTS)).map(lambda pair: (min(pair), max(pair)))
SPANS = st.lists(SPAN, max_size=6)


def moments(spans: list[Span]) -> set[int]:
    return {moment for start, end in spans for moment in range(start, end)}


def lie_apart(spans: list[Span]) -> bool:
    return all(one[1] < other[0] for one, other in pairwise(spans))


@given(SPANS, SPANS)
def test_a_union_is_all_of_both(one: list[Span], other: list[Span]) -> None:
    both = union(one, other)
    assert moments(both) == moments(one) | moments(other)
    assert lie_apart(both)


@given(SPANS, SPANS)
def test_an_intersection_is_what_both_have(one: list[Span], other: list[Span]) -> None:
    common = intersection(union(one), union(other))
    assert moments(common) == moments(one) & moments(other)
    assert length_ms(common, 0, MOMENTS) == len(moments(common))


@given(SPANS, st.integers(0, MOMENTS), st.integers(0, MOMENTS))
def test_a_length_is_that_within_the_window(spans: list[Span], start: int, end: int) -> None:
    assert length_ms(union(spans), start, end) == len(moments(spans) & set(range(start, end)))


@pytest.mark.parametrize(
    ("results", "cadences", "spans"),
    [
        pytest.param([], [(0, 10)], [], id="nothing was measured"),
        pytest.param([(1_000, True)], [(0, 10)], [(1_000, 11_000)], id="a result speaks for a while"),
        pytest.param(
            [(1_000, True), (6_000, True)], [(0, 10)], [(1_000, 16_000)], id="and the next goes on from there"
        ),
        pytest.param(
            [(1_000, True), (20_000, True)], [(0, 10)], [(1_000, 11_000), (20_000, 30_000)], id="or later"
        ),
        pytest.param([(1_000, True), (6_000, False)], [(0, 10)], [(1_000, 6_000)], id="a blind one ends it"),
        pytest.param([(1_000, True)], [(0, 10), (3_000, None)], [(1_000, 3_000)], id="so does a pause"),
        pytest.param([(4_000, True)], [(0, 10), (3_000, None)], [], id="what ends in a pause says nothing"),
        pytest.param(
            [(1_000, True), (4_000, True)],
            [(0, 10), (3_000, 2)],
            [(1_000, 6_000)],
            id="the cadence at its start is a result's own",
        ),
        pytest.param([(1_000, True)], [(2_000, 10)], [], id="before the first cadence nothing is known"),
    ],
)
def test_known_time(
    results: list[tuple[int, bool]], cadences: list[tuple[int, int | None]], spans: list[Span]
) -> None:
    assert known(results, cadences) == spans


@pytest.mark.parametrize(
    ("known_ms", "down_ms", "uptime"),
    [
        pytest.param(0, 0, 100.0, id="nothing is known"),
        pytest.param(1_000, 0, 100.0, id="no outage"),
        pytest.param(1_000, 250, 75.0, id="a quarter of the time"),
        pytest.param(1_000, 1_000, 0.0, id="all of it"),
        pytest.param(10**12, 1, 99.9999, id="the shortest outage is one"),
        pytest.param(300_000, 100_000, 66.6667, id="rounded to four places"),
    ],
)
def test_uptime_is_one_less_the_share_of_outages(known_ms: int, down_ms: int, uptime: float) -> None:
    assert share(known_ms, down_ms) == uptime


def test_a_result_speaks_until_the_next_one_is_overdue() -> None:
    assert cover_s(60, 10) == 85
