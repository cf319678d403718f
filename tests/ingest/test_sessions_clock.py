"""Unix times of results: from the least delayed messages, and never from a wall clock of the probe alone."""

from collector.ingest.sessions_clock import ProbeClock

SECOND = 1_000_000
UNIX = 1_700_000_000 * SECOND


def clock(*, wall_us: int = UNIX) -> ProbeClock:
    """Boot time 0 is `UNIX`; the hello took 200 ms to come."""
    return ProbeClock("boot-1", 0, wall_us, UNIX + SECOND // 5)


def test_a_fast_message_corrects_what_a_slow_one_said() -> None:
    one = clock()
    assert one.offset_us("boot-1", 0, 0) == UNIX + SECOND // 5
    one.heard(3 * SECOND, UNIX + 3 * SECOND + 1000)
    one.heard(4 * SECOND, UNIX + 9 * SECOND)

    assert one.offset_us("boot-1", 0, 0) == UNIX + 1000


def test_clocks_that_drift_apart_are_followed_within_about_a_minute() -> None:
    one = clock()
    for second in range(0, 3600, 5):
        drift = second * 100  # 100 ppm
        one.heard(second * SECOND, UNIX + second * SECOND + drift)

    assert abs(one.offset_us("boot-1", 0, 0) - UNIX - 3600 * 100) <= 70 * 100


def test_an_earlier_boot_goes_by_its_wall_clock_less_what_that_is_wrong_now() -> None:
    one = clock(wall_us=UNIX + 3600 * SECOND + SECOND // 5)

    assert one.offset_us("boot-0", 7, UNIX + 600 * SECOND) == UNIX + (600 - 3600) * SECOND - 7
