"""Counts the checks of several locations that time out together as one."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from collector.evaluation.core.decision import EvaluatedLocation
from collector.evaluation.core.state import LATE, StateChange, StreakThresholds, sooner, timed_out

# With 2 % of all checks lost, two locations alone would so invent an outage once in 300 years of a monitor
# checked each minute (three losses here, two there); of three, the third must lose two more at that moment.
_AT_LEAST = 3


def joined(
    seen: Sequence[EvaluatedLocation], thresholds: StreakThresholds, timeout: timedelta, now: datetime
) -> list[EvaluatedLocation]:
    """Where one location is confirmed failing, let the others that time out fail with one failure less.

    Only if no location contradicts: all that vote, at least three, fail so far.
    """
    voters = [location for location in seen if location.vote.counts(now)]
    agreed = all(location.state.fails and not location.vote.stale for location in voters)
    if len(voters) < _AT_LEAST or not agreed or not any(location.state.failing for location in voters):
        return list(seen)
    enough = sooner(thresholds).failure
    return [
        _failing(location, now) if _waits(location, enough, timeout, now) else location for location in seen
    ]


def _waits(location: EvaluatedLocation, enough: int, timeout: timedelta, now: datetime) -> bool:
    fresh = location.checked_at is not None and abs(now - location.checked_at) <= 2 * timeout + LATE
    settled = location.change is not None or location.state.failing or not location.vote.counts(now)
    return (
        fresh
        and not settled
        and location.state.fails >= enough
        and timed_out(location.error or location.last_error)
    )


def _failing(location: EvaluatedLocation, now: datetime) -> EvaluatedLocation:
    return replace(
        location,
        vote=replace(location.vote, failing=True),
        state=replace(location.state, failing=True),
        change=StateChange.FAILING,
        changed_at=now,
    )
