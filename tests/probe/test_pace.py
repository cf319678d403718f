"""How soon a probe calls again."""

from probe.link.pace import Pace

TRIES = 40


def waits(pace: Pace, *, refused: bool, lasted_s: float = 0.1) -> list[float]:
    return [pace.wait_s(refused=refused, lasted_s=lasted_s) for _ in range(TRIES)]


def test_a_collector_that_is_away_is_called_every_few_seconds() -> None:
    found = waits(Pace(), refused=False)

    assert found[0] <= 0.25
    assert max(found) <= 5
    assert all(wait >= 1.25 for wait in found[10:])


def test_who_was_turned_away_calls_after_minutes() -> None:
    found = waits(Pace(), refused=True)

    assert found[0] <= 5
    assert all(75 <= wait <= 300 for wait in found[6:])


def test_who_was_turned_away_and_is_not_any_more_calls_soon() -> None:
    pace = Pace()
    waits(pace, refused=True)

    assert pace.wait_s(refused=False, lasted_s=0.1) <= 0.25


def test_who_is_turned_away_after_a_long_session_hears_it_once_more_soon() -> None:
    pace = Pace()
    waits(pace, refused=False)

    assert pace.wait_s(refused=True, lasted_s=3600) <= 5


def test_after_a_good_session_the_next_is_begun_at_once() -> None:
    pace = Pace()
    waits(pace, refused=False)

    assert pace.wait_s(refused=False, lasted_s=60) <= 0.25
