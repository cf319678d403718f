"""A histogram's percentiles stay within its stated error of the latencies that it was made of."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from collector.history.core.histogram import BOUNDS, ERROR, bucket_of, merged, percentiles, value_of

LATENCIES = st.lists(st.integers(0, 120_000) | st.integers(0, 2**31 - 1), min_size=1, max_size=200)
SHARES = (0.5, 0.95, 0.99)


def histogram(latencies: list[int]) -> tuple[list[int], list[int]]:
    return merged(([bucket_of(ms)], [1]) for ms in latencies)


@given(st.integers(1, 2**31 - 1))
def test_a_bucket_stands_for_each_of_its_latencies_within_the_error(ms: int) -> None:
    assert abs(value_of(bucket_of(ms)) - ms) <= ERROR * ms * 1.000001


@given(st.integers(0, 2**31 - 2))
def test_buckets_rise(ms: int) -> None:
    assert 0 <= bucket_of(ms) <= bucket_of(ms + 1) <= bucket_of(ms) + 1


def test_no_time_at_all_and_small_latencies_are_exact() -> None:
    assert bucket_of(-1) == bucket_of(0) == 0
    assert [value_of(bucket_of(ms)) for ms in range(25)] == list(range(25))


def test_buckets_fit_their_column_and_an_hour_of_web_latencies_few_of_them() -> None:
    assert len(BOUNDS) < 2**15
    assert len({bucket_of(ms) for ms in range(50, 500)}) < 60


@given(LATENCIES)
def test_percentiles_are_within_the_error_of_the_nearest_rank(latencies: list[int]) -> None:
    ordered = sorted(latencies)
    found = percentiles(*histogram(latencies), SHARES)
    for share, value in zip(SHARES, found, strict=True):
        exact = ordered[ceil(share * len(ordered) - 1e-9) - 1]
        assert abs(value - exact) <= ERROR * exact * 1.000001


@given(LATENCIES, st.integers(1, 5))
def test_merged_parts_are_the_whole(latencies: list[int], parts: int) -> None:
    pieces = [latencies[start::parts] for start in range(parts)]
    assert merged(histogram(piece) for piece in pieces) == histogram(latencies)


def test_without_latencies_percentiles_are_zero() -> None:
    assert percentiles([], []) == [0.0, 0.0, 0.0]
    assert merged([]) == ([], [])
