"""How often each of many may come."""

from collector.platform import pace
from collector.platform.pace import PaceLimiter


def test_as_many_as_the_burst_come_at_once_and_then_the_rate() -> None:
    limit = PaceLimiter(per_second=10, burst=100)

    at_once = sum(limit.admit("a", 1000.0) for _ in range(200))
    within_ten_seconds = sum(limit.admit("a", 1000.0 + n / 100) for n in range(1, 1001))

    assert at_once == 100
    assert within_ten_seconds == 100
    assert sum(limit.admit("a", 1100.0) for _ in range(200)) == 100


def test_nobody_pays_for_another() -> None:
    limit = PaceLimiter(per_second=10, burst=1)

    assert [limit.admit(key, 5.0) for key in ("a", "a", "b", "b")] == [True, False, True, False]


def test_no_more_are_remembered_than_have_come_of_late() -> None:
    limit = PaceLimiter(per_second=10, burst=1)

    admitted = sum(limit.admit(key, key / 1000) for key in range(3 * pace._REMEMBERED))

    assert admitted == 3 * pace._REMEMBERED
    assert len(limit._due) <= pace._REMEMBERED
