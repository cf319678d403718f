"""Phases survive their packing to a tenth of a millisecond, and no bytes break the reader."""

from dataclasses import astuple

from hypothesis import given
from hypothesis import strategies as st

from shared.phases import MAX_BYTES, days_left, pack, unpack
from shared.results import Phases

US = st.none() | st.integers(0, 120_000_000)


@given(st.builds(Phases, US, US, US, US, US))
def test_phases_come_back_to_a_tenth_of_a_millisecond(phases: Phases) -> None:
    packed = pack(phases)
    assert len(packed) <= MAX_BYTES
    for before, after in zip(astuple(phases), astuple(unpack(packed)), strict=True):
        assert (before is None) == (after is None)
        assert before is None or abs(before - after) <= 50


def test_absent_phases_at_the_end_cost_nothing() -> None:
    assert pack(Phases()) == b""
    assert len(pack(Phases(dns_us=1200, connect_us=5000))) == 2


@given(st.binary(max_size=60))
def test_any_bytes_give_phases(packed: bytes) -> None:
    assert all(value is None or value >= 0 for value in astuple(unpack(packed)))


@given(st.builds(Phases, US, US, US, US, US), st.integers(-(10**6), 10**6))
def test_the_days_of_a_certificate_come_back_beside_its_phases(phases: Phases, days: int) -> None:
    packed = pack(phases, days)
    assert len(packed) <= MAX_BYTES
    assert unpack(packed) == unpack(pack(phases))
    assert days_left(packed) == (None if phases == Phases() else days)


@given(st.builds(Phases, US, US, US, US, US))
def test_no_certificate_has_no_days(phases: Phases) -> None:
    assert days_left(pack(phases)) is None


@given(st.binary(max_size=60))
def test_any_bytes_give_days_or_none(packed: bytes) -> None:
    assert days_left(packed) is None or len(packed) > 5
