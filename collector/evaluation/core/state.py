"""The state of one location: failing after enough failed checks in a row, up after enough good ones."""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from shared.results import Status

# A result that arrives later than its timeout and this is history: it changes no verdict.
LATE = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class CheckStreak:
    """*fails*: failed checks in a row; *goods*: good ones in a row, counted only while failing."""

    failing: bool = False
    fails: int = 0
    goods: int = 0
    failed_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class StreakThresholds:
    """How many checks in a row it takes to fail, and to recover."""

    failure: int
    recovery: int


class StateChange(StrEnum):
    """How one check changed a location."""

    FAILING = "failing"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One result as the state machine sees it. A *late* one is counted but changes nothing on its own."""

    status: Status
    at: datetime
    late: bool = False


# How a probe reports a check that timed out.
_TIMED_OUT = re.compile(r"\b(timed out after|no answer( for \S+)? within|not (done|complete) within)\b")


def timed_out(error: str) -> bool:
    """Whether a check with this error hung rather than failed: it took its whole timeout."""
    return _TIMED_OUT.search(error) is not None


def sooner(thresholds: StreakThresholds) -> StreakThresholds:
    """Thresholds of a check that timed out while another location is failing: one failure less is enough."""
    return replace(thresholds, failure=max(1, thresholds.failure - 1))


def outdated(state: CheckStreak, thresholds: StreakThresholds) -> bool:
    """Whether it is still failing only because the good checks came late."""
    return state.failing and state.goods >= thresholds.recovery


def step(
    state: CheckStreak, check: CheckResult, thresholds: StreakThresholds
) -> tuple[CheckStreak, StateChange | None]:
    """Return the state after one check, and the change that it made, if any."""
    if check.status is Status.UP:
        return _good(state, check, thresholds)
    if check.status is Status.DOWN:
        return _bad(state, check, thresholds)
    return state, None


def _good(
    state: CheckStreak, check: CheckResult, thresholds: StreakThresholds
) -> tuple[CheckStreak, StateChange | None]:
    if not state.failing:
        return CheckStreak(), None
    goods = state.goods + 1
    if goods >= thresholds.recovery and not check.late:
        return CheckStreak(), StateChange.RECOVERED
    return replace(state, goods=goods, fails=0), None


def _bad(
    state: CheckStreak, check: CheckResult, thresholds: StreakThresholds
) -> tuple[CheckStreak, StateChange | None]:
    fails = state.fails + 1
    since = state.failed_since or check.at
    turns = not state.failing and fails >= thresholds.failure and not check.late
    after = CheckStreak(state.failing or turns, fails, 0, since)
    return after, StateChange.FAILING if turns else None
