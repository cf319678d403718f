"""What one location thinks of a monitor: failing after some failed checks in a row, well after good ones."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from shared.results import Status


@dataclass(frozen=True, slots=True)
class LocationState:
    """*fails*: failed checks in a row; *goods*: good ones in a row, counted only while failing."""

    failing: bool = False
    fails: int = 0
    goods: int = 0
    failed_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How many checks in a row it takes to fail, and to recover."""

    failure: int
    recovery: int


class Change(Enum):
    """What became of a location with one check."""

    FAILING = "failing"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Check:
    """One result as the state machine sees it. A *late* one is counted but changes nothing by itself."""

    status: Status
    at: datetime
    late: bool = False


def step(state: LocationState, check: Check, thresholds: Thresholds) -> tuple[LocationState, Change | None]:
    """The state after one check, and the change that it made, if any."""
    if check.status is Status.UP:
        return _good(state, check, thresholds)
    if check.status is Status.DOWN:
        return _bad(state, check, thresholds)
    return state, None


def _good(state: LocationState, check: Check, thresholds: Thresholds) -> tuple[LocationState, Change | None]:
    if not state.failing:
        return LocationState(), None
    goods = state.goods + 1
    if goods >= thresholds.recovery and not check.late:
        return LocationState(), Change.RECOVERED
    return replace(state, goods=goods, fails=0), None


def _bad(state: LocationState, check: Check, thresholds: Thresholds) -> tuple[LocationState, Change | None]:
    fails = state.fails + 1
    since = state.failed_since or check.at
    turns = not state.failing and fails >= thresholds.failure and not check.late
    after = LocationState(state.failing or turns, fails, 0, since)
    return after, Change.FAILING if turns else None
