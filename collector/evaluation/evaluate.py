"""Evaluates state changes under lock: what failed or recovered, and the decisions that follow."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

from collector.evaluation.apply import DecisionChanges, apply_decision, write
from collector.evaluation.core.decision import EvaluatedLocation, IncidentAction, decide, needs_surroundings
from collector.evaluation.core.state import (
    LATE,
    CheckResult,
    StateChange,
    StreakThresholds,
    outdated,
    sooner,
    step,
    timed_out,
)
from collector.evaluation.core.timeouts import joined
from collector.evaluation.storage import locked_monitors, states
from collector.evaluation.storage.locked_monitors import LockedMonitor
from collector.evaluation.storage.states import StateAtLocation
from collector.evaluation.suppression import SuppressionContext, as_decided, surroundings
from collector.platform.storage.db import Tx
from shared.results import Status

_NOTHING_AROUND = SuppressionContext()


@dataclass(frozen=True, slots=True)
class ResultToEvaluate:
    """One result of a key that needs a decision: the check ran from *at* to *ended*."""

    status: Status
    at: datetime
    ended: datetime
    error: str


@dataclass(slots=True)
class Evaluation:
    """Monitors for which an immediate check elsewhere may help, once this is committed.

    *doubted*: monitors of which a location has just begun to fail; *risen*: those that came up again.
    """

    doubted: list[int] = field(default_factory=list)
    risen: list[int] = field(default_factory=list)


class CheckRequests(Protocol):
    """Requests immediate checks where an evaluation left doubt."""

    def request(self, evaluation: Evaluation) -> None: ...


class _NoRequests:
    def request(self, evaluation: Evaluation) -> None:
        """Leave all checks to their schedule."""


NO_REQUESTS: Final[CheckRequests] = _NoRequests()


Pending = Mapping[tuple[int, int], deque[ResultToEvaluate]]


async def evaluate(tx: Tx, pending: Pending, since: datetime | None, now: datetime) -> Evaluation:
    """Apply these results to the states of their (monitor, location)s, in order.

    Each round takes every location up to its next change, so that an outage that began and ended within one
    transaction is still an outage. *since*: see `decide`.
    """
    evaluation = Evaluation()
    while monitors := sorted({key for (key, _), results in pending.items() if results}):
        evaluated_now = await _round(tx, monitors, pending, since, now, evaluation)
        for (key, _), results in pending.items():
            if key not in evaluated_now:
                results.clear()
    return evaluation


async def reevaluate(tx: Tx, monitors: Sequence[int], since: datetime | None, now: datetime) -> Evaluation:
    """Decide about *monitors*, in key order, from their stored state."""
    evaluation = Evaluation()
    await _round(tx, monitors, {}, since, now, evaluation)
    return evaluation


def differs(
    doubtful: Sequence[LockedMonitor],
    located: Sequence[StateAtLocation],
    since: datetime | None,
    now: datetime,
) -> list[int]:
    """Return the monitors whose stored state differs from a new decision."""
    places = states.by_monitor(located)
    differing = []
    for locked in doubtful:
        decision = decide(as_decided(locked), [_seen(place) for place in places[locked.monitor]], since, now)
        held = (
            decision.degraded_since == locked.degraded_since
            and decision.flapping_since == locked.flapping_since
        )
        if decision.turned or decision.action is not IncidentAction.NONE or not held:
            differing.append(locked.monitor)
    return differing


async def _round(
    tx: Tx,
    monitors: Sequence[int],
    pending: Pending,
    since: datetime | None,
    now: datetime,
    evaluation: Evaluation,
) -> set[int]:
    """Take every location up to its next change and decide; return the monitors that were evaluated."""
    present = await locked_monitors.lock(tx, monitors)
    places = states.by_monitor(await states.of_monitors(tx, [locked.monitor for locked in present]))
    writes = DecisionChanges()
    seen = {
        locked.monitor: _advance(locked, places[locked.monitor], pending, writes, now) for locked in present
    }
    if writes.states:
        # Before parents are read, which may be among these.
        await states.save(tx, writes.states)
    # Holds are loaded only where something would happen: most failures change nothing.
    moving = [
        locked
        for locked in present
        if needs_surroundings(as_decided(locked), seen[locked.monitor], since, now)
    ]
    around = await surroundings(tx, moving, _after(places, seen), now) if moving else {}
    for locked in present:
        about = around.get(locked.monitor, _NOTHING_AROUND)
        decision = decide(as_decided(locked, about), seen[locked.monitor], since, now)
        apply_decision(locked, decision, about, now, writes)
        if decision.turned and not decision.down:
            evaluation.risen.append(locked.monitor)
    await write(tx, writes, now)
    evaluation.doubted.extend(
        locked.monitor for locked in present if _doubted(locked, places[locked.monitor], seen[locked.monitor])
    )
    return {locked.monitor for locked in present}


def _after(
    places: Mapping[int, Sequence[StateAtLocation]], seen: Mapping[int, Sequence[EvaluatedLocation]]
) -> dict[int, list[StateAtLocation]]:
    """The locations with their present states."""
    return {
        key: [
            replace(place, state=location.state)
            for place, location in zip(places[key], locations, strict=True)
        ]
        for key, locations in seen.items()
    }


def _doubted(
    locked: LockedMonitor, places: Sequence[StateAtLocation], seen: Sequence[EvaluatedLocation]
) -> bool:
    """Whether a streak of failures has begun, and another location or a parent can be checked."""
    if len(places) == 1 and not locked.depends_on:
        return False
    return any(
        after.state.fails and not before.state.fails and not before.state.failing
        for before, after in zip(places, seen, strict=True)
    )


def _seen(place: StateAtLocation) -> EvaluatedLocation:
    return EvaluatedLocation(place.vote, place.state, last_error=place.error, checked_at=place.last_at)


def _advance(
    locked: LockedMonitor,
    places: Sequence[StateAtLocation],
    pending: Pending,
    writes: DecisionChanges,
    now: datetime,
) -> list[EvaluatedLocation]:
    """Step each location through its results up to its next change."""
    bad = [place.vote.fails(now) for place in places]
    seen = [
        _advanced(locked, place, pending, now, elsewhere=sum(bad) > mine)
        for place, mine in zip(places, bad, strict=True)
    ]
    thresholds = StreakThresholds(locked.failure_threshold, locked.recovery_threshold)
    seen = joined(seen, thresholds, timedelta(seconds=locked.timeout_s), now)
    for place, each in zip(places, seen, strict=True):
        _note(place, each, writes, now)
    return seen


def _advanced(
    locked: LockedMonitor, place: StateAtLocation, pending: Pending, now: datetime, *, elsewhere: bool
) -> EvaluatedLocation:
    """*elsewhere*: another location was confirmed failing before these results."""
    results = pending.get((place.monitor, place.location))
    seen = _seen(place)
    if not results:
        return seen
    thresholds = StreakThresholds(locked.failure_threshold, locked.recovery_threshold)
    late_after = timedelta(seconds=locked.timeout_s) + LATE
    while results and seen.change is None:
        result = results.popleft()
        bad = result.status is Status.DOWN
        check = CheckResult(result.status, result.at, late=now - result.ended > late_after)
        hung = bad and elsewhere and timed_out(result.error)
        state, change = step(seen.state, check, sooner(thresholds) if hung else thresholds)
        seen = replace(
            seen,
            vote=replace(
                seen.vote, failing=state.failing, stale=place.outlived or outdated(state, thresholds)
            ),
            state=state,
            change=change,
            changed_at=min(result.at, now) if change else None,
            failed_now=seen.failed_now + bad,
            error=result.error if bad else seen.error,
        )
    return seen


def _note(place: StateAtLocation, seen: EvaluatedLocation, writes: DecisionChanges, now: datetime) -> None:
    """Record in *writes* how the location changed."""
    if seen.state != place.state:
        writes.states.append((place.monitor, place.location, seen.state))
    if seen.change is StateChange.FAILING:
        writes.began.append((place.monitor, place.location, seen.state.failed_since or now))
    elif seen.change is StateChange.RECOVERED:
        writes.ended.append((place.monitor, place.location, seen.changed_at or now))
