"""Starts are even, steady and gentle, and two plans agree by their hash."""

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.schedule import (
    following,
    late_allowed_us,
    next_start,
    phase_us,
    plan_hash,
    recheck_delay,
)

pytestmark = pytest.mark.races

MINUTE = 60_000_000
INTERVALS = st.integers(100_000, 86_400_000_000)
MOMENTS = st.integers(10**15, 3 * 10**15)


@given(MOMENTS, INTERVALS, st.integers(0, 2**31))
def test_the_next_start_is_ahead_by_an_interval_at_most_and_lies_at_the_phase(
    now: int, interval: int, monitor: int
) -> None:
    phase = phase_us(monitor, interval, 0, 1)
    start = next_start(now, phase, interval)
    assert now < start <= now + interval
    assert start % interval == phase


@given(MOMENTS, INTERVALS, st.integers(0, 2**31), st.integers(-(10**12), 10**12))
def test_a_step_of_the_clock_never_brings_two_starts_close(
    now: int, interval: int, monitor: int, step: int
) -> None:
    phase = phase_us(monitor, interval, 0, 1)
    start = next_start(now, phase, interval) + step
    assert interval - interval // 2 <= following(start, phase, interval) - start + 1
    assert following(start, phase, interval) - start <= interval + interval // 2


@given(MOMENTS, INTERVALS, st.integers(0, 2**31))
def test_without_a_step_starts_are_one_interval_apart(now: int, interval: int, monitor: int) -> None:
    phase = phase_us(monitor, interval, 0, 1)
    start = next_start(now, phase, interval)
    assert following(start, phase, interval) == start + interval
    assert following(start + interval // 3, phase, interval) == start + interval


@pytest.mark.parametrize("turns", [1, 2, 3, 5])
def test_locations_take_turns_evenly(turns: int) -> None:
    places = sorted(phase_us(4711, MINUTE, turn, turns) for turn in range(turns))
    apart = [after - before for before, after in zip(places, [*places[1:], places[0] + MINUTE], strict=True)]
    assert max(apart) - min(apart) <= 1


def test_monitors_are_spread_over_the_interval() -> None:
    tenths = Counter(phase_us(monitor, MINUTE, 0, 1) * 10 // MINUTE for monitor in range(1, 10_001))
    assert len(tenths) == 10
    assert max(tenths.values()) < 1150
    assert min(tenths.values()) > 850


def test_places_are_the_same_in_every_process() -> None:
    code = "from shared.schedule import phase_us; print(phase_us(4711, 60_000_000, 1, 3))"
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(text) == phase_us(4711, MINUTE, 1, 3)


@pytest.mark.parametrize(
    ("streak", "interval_s", "delay"),
    [
        pytest.param(1, 60, 1, id="the first re-check comes after a second"),
        pytest.param(2, 60, 2, id="the second after two"),
        pytest.param(5, 60, 16, id="each waits twice as long"),
        pytest.param(9, 60, 60, id="never slower than the interval"),
        pytest.param(1, 0.5, 0.5, id="nor in a short one"),
        pytest.param(100_000, 60, 60, id="however long it goes on"),
    ],
)
def test_recheck_delay(streak: int, interval_s: float, delay: float) -> None:
    assert recheck_delay(streak, interval_s) == delay


def test_late_starts_are_made_up_for_by_a_sixtieth_of_the_interval_or_a_second() -> None:
    assert late_allowed_us(1_000_000) == 1_000_000
    assert late_allowed_us(60 * MINUTE) == MINUTE


PAIRS = st.lists(st.tuples(st.integers(1, 2**63), st.integers(1, 2**31)), unique=True, max_size=30)


@given(PAIRS, st.randoms())
def test_the_hash_of_a_plan_heeds_no_order(pairs: list[tuple[int, int]], chance: object) -> None:
    shuffled = list(pairs)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert plan_hash(pairs) == plan_hash(shuffled) < 2**64


@given(PAIRS.filter(bool))
def test_the_hash_of_a_plan_notices_each_assignment_and_revision(pairs: list[tuple[int, int]]) -> None:
    (number, revision), *rest = pairs
    assert plan_hash(rest) != plan_hash(pairs) != plan_hash([(number, revision + 1), *rest])
    assert plan_hash([(1, 2), (3, 4)]) != plan_hash([(1, 4), (3, 2)])
