"""How many samples came is stored in the place of phases, and cannot be taken for any."""

from hypothesis import given
from hypothesis import strategies as st

from collector.history.core.receptions import packed, samples
from shared.phases import MAX_BYTES, days_left, microseconds, pack
from shared.results import Phases


@given(st.integers(0, 2**63))
def test_a_count_comes_back_as_it_was_stored(count: int) -> None:
    stored = packed(count)

    assert samples(stored) == count
    assert microseconds(stored) == [None] * 5
    assert len(stored) <= MAX_BYTES


@given(
    st.lists(st.none() | st.integers(0, 10**9), min_size=5, max_size=5),
    st.none() | st.integers(-9_000, 9_000),
)
def test_the_phases_of_a_check_are_no_count(us: list[int | None], days: int | None) -> None:
    assert samples(pack(Phases(*us), days)) is None


@given(st.integers(0, 2**63))
def test_a_count_is_no_certificate(count: int) -> None:
    assert days_left(packed(count)) is None
