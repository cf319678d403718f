"""One location: when it fails, when it recovers, what does not count."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.evaluation.core.state import (
    CheckResult,
    CheckStreak,
    StateChange,
    StreakThresholds,
    outdated,
    sooner,
    step,
    timed_out,
)
from probe.net.faults import late
from shared.results import Status

T0 = datetime(2026, 11, 21, tzinfo=UTC)
T1 = T0 + timedelta(seconds=1)
TWICE = StreakThresholds(failure=2, recovery=2)

WELL = CheckStreak()
SHAKY = CheckStreak(fails=1, failed_since=T0)
FAILING = CheckStreak(failing=True, fails=2, failed_since=T0)
MENDING = CheckStreak(failing=True, goods=1, failed_since=T0)


@pytest.mark.parametrize(
    ("before", "check", "after", "change"),
    [
        pytest.param(WELL, CheckResult(Status.UP, T1), WELL, None, id="stays well"),
        pytest.param(WELL, CheckResult(Status.DOWN, T0), SHAKY, None, id="one failure is not enough"),
        pytest.param(SHAKY, CheckResult(Status.UP, T1), WELL, None, id="a good check forgets the failure"),
        pytest.param(SHAKY, CheckResult(Status.UNKNOWN, T1), SHAKY, None, id="unknown changes nothing"),
        pytest.param(
            SHAKY,
            CheckResult(Status.DOWN, T1),
            FAILING,
            StateChange.FAILING,
            id="the second fails it, from the first on",
        ),
        pytest.param(
            SHAKY,
            CheckResult(Status.DOWN, T1, late=True),
            CheckStreak(fails=2, failed_since=T0),
            None,
            id="a late failure counts but does not fail it",
        ),
        pytest.param(
            CheckStreak(fails=2, failed_since=T0),
            CheckResult(Status.DOWN, T1),
            CheckStreak(failing=True, fails=3, failed_since=T0),
            StateChange.FAILING,
            id="the next fresh failure does",
        ),
        pytest.param(
            FAILING,
            CheckResult(Status.DOWN, T1),
            CheckStreak(failing=True, fails=3, failed_since=T0),
            None,
            id="failing is said once",
        ),
        pytest.param(FAILING, CheckResult(Status.UP, T1), MENDING, None, id="one good check is not enough"),
        pytest.param(
            MENDING, CheckResult(Status.UP, T1), WELL, StateChange.RECOVERED, id="the second recovers it"
        ),
        pytest.param(
            MENDING,
            CheckResult(Status.UP, T1, late=True),
            CheckStreak(failing=True, goods=2, failed_since=T0),
            None,
            id="a late good check does not recover it",
        ),
        pytest.param(
            MENDING,
            CheckResult(Status.DOWN, T1),
            CheckStreak(failing=True, fails=1, failed_since=T0),
            None,
            id="a failure between begins the recovery anew, within the same outage",
        ),
        pytest.param(FAILING, CheckResult(Status.UNKNOWN, T1), FAILING, None, id="unknown ends no outage"),
    ],
)
def test_step(
    before: CheckStreak, check: CheckResult, after: CheckStreak, change: StateChange | None
) -> None:
    assert step(before, check, TWICE) == (after, change)


@pytest.mark.parametrize(
    ("error", "hung"),
    [
        *((late(phase, "10 s"), True) for phase in ("tls", "first byte", "transfer", "expected text")),
        ("connect: timed out after 10 s to 192.0.2.1:443", True),
        ("connect: timed out after 3 s to 192.0.2.1:443 and 2 more", True),
        ("dns: no answer for example.com within 10 s", True),
        ("connect: refused by 192.0.2.1:443", False),
        ("status 504, expected 2xx", False),
        ("body does not contain 'timed out'", False),
        ("", False),
    ],
)
def test_what_counts_as_a_check_that_hung(error: str, *, hung: bool) -> None:
    assert timed_out(error) is hung


@pytest.mark.parametrize(("needs", "then"), [(3, 2), (2, 1), (1, 1)])
def test_after_another_location_one_that_hangs_needs_one_failure_less(needs: int, then: int) -> None:
    assert sooner(StreakThresholds(needs, 4)) == StreakThresholds(then, 4)


def test_failing_against_enough_good_checks_that_came_late_is_outdated() -> None:
    failing = CheckStreak(failing=True, fails=2, failed_since=T0)
    late_good = CheckResult(Status.UP, T1, late=True)
    once, _ = step(failing, late_good, StreakThresholds(2, 2))
    twice, _ = step(once, late_good, StreakThresholds(2, 2))
    again, _ = step(twice, CheckResult(Status.DOWN, T1), StreakThresholds(2, 2))
    assert [outdated(state, StreakThresholds(2, 2)) for state in (failing, once, twice, again)] == [
        False, False, True, False,
    ]  # fmt: skip
