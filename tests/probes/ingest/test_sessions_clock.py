"""Unix times of results: from the least delayed messages, and never from a wall clock of the probe alone."""

from datetime import timedelta

from collector.probes.sessions.clock import Moment, ProbeClock
from shared.clock import EPOCH

SECOND = 1_000_000
UNIX = 1_700_000_000 * SECOND
OURS = 77 * SECOND  # our boot clock when theirs began


def at(us: int, *, set_by: int = 0) -> Moment:
    """That long after the probe's boot, which was at `UNIX`; our wall clock was set by so much since."""
    return Moment(EPOCH + timedelta(microseconds=UNIX + us + set_by), OURS + us)


def clock(*, wall_us: int = UNIX) -> ProbeClock:
    """Boot time 0 is `UNIX`; the hello took 200 ms to come."""
    return ProbeClock("boot-1", 0, wall_us, at(SECOND // 5))


def test_a_fast_message_corrects_what_a_slow_one_said() -> None:
    probe_clock = clock()
    assert probe_clock.offset_us("boot-1", 0, 0, at(0)) == UNIX + SECOND // 5
    probe_clock.record(3 * SECOND, at(3 * SECOND + 1000))
    probe_clock.record(4 * SECOND, at(9 * SECOND))

    assert probe_clock.offset_us("boot-1", 0, 0, at(9 * SECOND)) == UNIX + 1000


def test_clocks_that_drift_apart_are_followed_within_about_a_minute() -> None:
    probe_clock = clock()
    for second in range(0, 3600, 5):
        drift = second * 100  # 100 ppm
        probe_clock.record(second * SECOND, at(second * SECOND + drift))

    assert abs(probe_clock.offset_us("boot-1", 0, 0, at(3600 * SECOND)) - UNIX - 3600 * 100) <= 70 * 100


def test_an_earlier_boot_goes_by_its_wall_clock_less_what_that_is_wrong_now() -> None:
    probe_clock = clock(wall_us=UNIX + 3600 * SECOND + SECOND // 5)

    offset = probe_clock.offset_us("boot-0", 7, UNIX + 600 * SECOND, at(SECOND))
    assert offset == UNIX + (600 - 3600) * SECOND - 7


def test_our_wall_clock_when_it_is_set_takes_all_times_with_it_at_once() -> None:
    for step in (3600 * SECOND, -3600 * SECOND):
        probe_clock = clock()
        now = at(5 * SECOND, set_by=step)
        assert probe_clock.offset_us("boot-1", 0, 0, now) == UNIX + step + SECOND // 5
        probe_clock.record(5 * SECOND, now)
        assert probe_clock.offset_us("boot-1", 0, 0, now) == UNIX + step
        assert probe_clock.offset_us("boot-0", 0, UNIX, now) == UNIX + step + SECOND // 5
