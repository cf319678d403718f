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
    voters = [one for one in seen if one.vote.counts(now)]
    agreed = all(one.state.fails and not one.vote.stale for one in voters)
    if len(voters) < _AT_LEAST or not agreed or not any(one.state.failing for one in voters):
        return list(seen)
    enough = sooner(thresholds).failure
    return [_failing(one, now) if _waits(one, enough, timeout, now) else one for one in seen]


def _waits(one: EvaluatedLocation, enough: int, timeout: timedelta, now: datetime) -> bool:
    fresh = one.checked_at is not None and abs(now - one.checked_at) <= 2 * timeout + LATE
    settled = one.change is not None or one.state.failing or not one.vote.counts(now)
    return fresh and not settled and one.state.fails >= enough and timed_out(one.error or one.last_error)


def _failing(one: EvaluatedLocation, now: datetime) -> EvaluatedLocation:
    return replace(
        one,
        vote=replace(one.vote, failing=True),
        state=replace(one.state, failing=True),
        change=StateChange.FAILING,
        changed_at=now,
    )
