"""Locations that wait for a target that hangs: believed together, unless somebody knows better."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.evaluation.core.decision import EvaluatedLocation
from collector.evaluation.core.quorum import Vote
from collector.evaluation.core.state import CheckStreak, StateChange, StreakThresholds
from collector.evaluation.core.timeouts import joined

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
TIMEOUT = 10 * SECOND
THRICE = StreakThresholds(failure=3, recovery=1)
HUNG = "connect: timed out after 10 s to 192.0.2.1:443"


def place(
    fails: int,
    *,
    goods: int = 0,
    error: str = HUNG,
    heard_s: float = 1,
    checked_s: float = 12,
    stale: bool = False,
) -> EvaluatedLocation:
    """Seen so many seconds ago; it fails after three checks."""
    failing = fails >= 3 or goods > 0
    state = CheckStreak(failing, fails, goods, NOW - 30 * SECOND if fails else None)
    vote = Vote("eu", failing, NOW - heard_s * SECOND, stale=stale)
    return EvaluatedLocation(vote, state, last_error=error, checked_at=NOW - checked_s * SECOND)


FAILS = place(3)


@pytest.mark.parametrize(
    ("seen", "failing"),
    [
        pytest.param([FAILS, place(2), place(1)], [1, 1, 0], id="all wait: who waited twice fails"),
        pytest.param([FAILS, place(2), place(2)], [1, 1, 1], id="so does each other"),
        pytest.param([place(2), place(2), place(2)], [0, 0, 0], id="nobody is confirmed failing"),
        pytest.param([FAILS, place(2), place(0)], [1, 0, 0], id="one finds it well"),
        pytest.param([FAILS, place(2), place(0, heard_s=60)], [1, 0, 0], id="so does one just silent"),
        pytest.param([FAILS, place(2), place(1, stale=True)], [1, 0, 0], id="a failure of long ago"),
        pytest.param([place(0, goods=1), place(2), place(1)], [1, 0, 0], id="the failing one recovers"),
        pytest.param([FAILS, place(2)], [1, 0], id="of two locations nobody could speak against it"),
        pytest.param([FAILS, place(2), place(1, heard_s=180)], [1, 0, 0], id="nor of two voters"),
        pytest.param([FAILS, place(2), place(2), place(2, heard_s=180)], [1, 1, 1, 0], id="who votes not"),
        pytest.param([FAILS, place(2, error="refused"), place(1)], [1, 0, 0], id="it did not hang"),
        pytest.param([FAILS, place(2, checked_s=40), place(1)], [1, 0, 0], id="it hung long ago"),
    ],
)
def test_who_fails_with_one_failure_less(seen: list[EvaluatedLocation], failing: list[int]) -> None:
    after = joined(seen, THRICE, TIMEOUT, NOW)

    assert [one.state.failing for one in after] == [bool(bad) for bad in failing]
    assert [one.vote.failing for one in after] == [one.state.failing for one in after]
    for before, location in zip(seen, after, strict=True):
        turned = location.state.failing and not before.state.failing
        assert (location.change, location.changed_at) == (
            (StateChange.FAILING, NOW) if turned else (None, None)
        )
        assert (location.state.fails, location.state.failed_since) == (
            before.state.fails,
            before.state.failed_since,
        )
