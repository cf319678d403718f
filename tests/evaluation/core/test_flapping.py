"""What flaps, and when it is calm again."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.evaluation.core.flapping import HELD, add, calm, flaps

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def changes(*minutes: float) -> tuple[datetime, ...]:
    moments: tuple[datetime, ...] = ()
    for minute in minutes:
        moments = add(moments, NOW + minute * MINUTE)
    return moments


@pytest.mark.parametrize(
    ("minutes", "too_many"),
    [
        pytest.param([0, 1, 2, 3, 4, 5], False, id="six are not too many"),
        pytest.param([0, 1, 2, 3, 4, 5, 29.9], True, id="seven within half an hour are"),
        pytest.param([0, 1, 2, 3, 4, 5, 30], False, id="the first is half an hour old"),
        pytest.param([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], True, id="ten are too"),
        pytest.param([0, 5, 10, 15, 20, 25, 30, 35, 40], False, id="slow ones never are"),
        pytest.param([5, 4, 3, 2, 1, 0, 0], True, id="those that come out of order count as one moment"),
    ],
)
def test_more_than_six_changes_in_half_an_hour(minutes: list[float], *, too_many: bool) -> None:
    assert flaps(changes(*minutes)) is too_many


def test_no_more_is_remembered_than_is_needed() -> None:
    assert len(changes(*range(100))) == 7


def test_it_is_calm_once_one_state_has_held_for_ten_minutes() -> None:
    seen = changes(0, 1, 2, 3, 4, 5, 6)
    assert not calm(seen, NOW + 6 * MINUTE + HELD - MINUTE)
    assert calm(seen, NOW + 6 * MINUTE + HELD)
    assert calm((), NOW)
