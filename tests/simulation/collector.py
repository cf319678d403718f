"""The collector's side of one monitor: states, verdicts and incidents, by the product's pure functions."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from collector.evaluation.core import quorum
from collector.evaluation.core.decision import (
    Decision,
    EvaluatedLocation,
    EvaluatedMonitor,
    IncidentAction,
    after,
    decide,
    goes_on,
)
from collector.evaluation.core.quorum import Vote
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
from collector.platform.deadlines import SETTLING
from shared.results import Status
from tests.simulation.place import INTERVAL, TIMEOUT, WELL, Place, Result
from tests.simulation.script import SECOND, Script

_STEP: Final = 5 * SECOND  # of a clock that is set by less nothing is noticed
_SETTLING: Final = int(SETTLING.total_seconds() * SECOND)
_TIMEOUT: Final = timedelta(microseconds=TIMEOUT)
_LATE_AFTER: Final = _TIMEOUT + LATE
_APART: Final = timedelta(microseconds=INTERVAL) + _LATE_AFTER
_THRESHOLDS: Final = StreakThresholds(failure=3, recovery=1)
_SYSTEM: Final = {"id": None, "name": "System"}


@dataclass(slots=True)
class Incident:
    """True times: when it was *opened*, of the first failed check, and of the good one that ended it."""

    opened: int
    began: int
    ended: int | None = None


class Judge:
    """Decides about one monitor. *incidents*: one entry for each opening, reopenings included."""

    __slots__ = ("_big", "_resolved_at", "_script", "incidents", "monitor", "places", "reopened")

    def __init__(self, script: Script, places: Sequence[Place]) -> None:
        self._script = script
        self.places = places
        self.monitor = EvaluatedMonitor(
            "target", "majority", down=False, announced=False, silenced_until=None
        )
        self.incidents: list[Incident] = []
        self.reopened = 0
        self._resolved_at: datetime | None = None
        clock = script.clock
        self._big = [at for at in clock.edges if abs(clock.offset(at) - clock.offset(at - 1)) > _STEP]

    @property
    def calm(self) -> bool:
        """Is it up, and does nobody say otherwise?"""
        monitor = self.monitor
        return not (monitor.down or monitor.degraded_since or monitor.flapping_since)

    @property
    def doubtful(self) -> bool:
        monitor = self.monitor
        differs = any(place.state.failing != monitor.down for place in self.places)
        return differs or bool(monitor.degraded_since or monitor.flapping_since)

    def hear(self, place: Place, results: Sequence[Result], now: int) -> bool:
        """Move the state of *place* by its results; says whether a streak of failures begins with them."""
        left, doubted = deque(results), False
        known = [result.start for result in results if result.status is not Status.UNKNOWN]
        place.checked = max([place.checked, *known])
        while left:
            before = place.state
            if before == WELL and all(result.status is not Status.DOWN for result in left):
                break
            self.decide(now, self._advance(place, left, now))
            doubted |= bool(place.state.fails and not before.fails and not before.failing)
        return doubted

    def _advance(self, place: Place, left: deque[Result], now: int) -> list[EvaluatedLocation]:
        """All places, this one taken up to its next change."""
        clock = self._script.clock
        moment = clock.moment(now)
        all_seen = [self._seen(each, now) for each in self.places]
        elsewhere = any(one.vote.fails(moment) for i, one in enumerate(all_seen) if i != place.place)
        seen = all_seen[place.place]
        stale = self._outlived(place, now)
        while left and seen.change is None:
            result = left.popleft()
            at, ended = clock.moment(result.start, by=now), clock.moment(result.end, by=now)
            bad = result.status is Status.DOWN
            check = CheckResult(result.status, at, late=moment - ended > _LATE_AFTER)
            hung = bad and elsewhere and timed_out(result.error)
            state, change = step(seen.state, check, sooner(_THRESHOLDS) if hung else _THRESHOLDS)
            if state.failed_since != seen.state.failed_since:
                place.began = result.start
            place.turned = result.start
            place.error = result.error if bad else place.error
            seen = replace(
                seen,
                vote=replace(seen.vote, failing=state.failing, stale=stale or outdated(state, _THRESHOLDS)),
                state=state,
                change=change,
                changed_at=min(at, moment) if change else None,
                failed_now=seen.failed_now + bad,
                error=result.error if bad else seen.error,
            )
        all_seen[place.place] = seen
        all_seen = joined(all_seen, _THRESHOLDS, _TIMEOUT, moment)
        for each, location in zip(self.places, all_seen, strict=True):
            each.state = location.state
        return all_seen

    def decide(self, now: int, news: Sequence[EvaluatedLocation] = ()) -> None:
        """Come to a verdict, and to what follows from it."""
        moment = self._script.clock.moment(now)
        seen = news or [self._seen(place, now) for place in self.places]
        decision = decide(self.monitor, seen, self._since(now), moment)
        if decision.action is IncidentAction.OPEN:
            self._open(decision, now, moment)
        elif decision.action is IncidentAction.RESOLVE:
            heard = zip(self.places, news, strict=False)
            ends = [place.turned for place, location in heard if location.change is StateChange.RECOVERED]
            self.incidents[-1].ended = max(ends, default=now)
            self._resolved_at = decision.until
        self.monitor = after(self.monitor, decision)

    def _seen(self, place: Place, now: int) -> EvaluatedLocation:
        stale = self._outlived(place, now) or outdated(place.state, _THRESHOLDS)
        seen_at = self._script.seen_at(place.place, now)
        vote = Vote(place.name, place.state.failing, seen_at, stale=stale)
        checked_at = self._script.clock.moment(place.checked, by=now) if place.state.fails else None
        return EvaluatedLocation(vote, place.state, last_error=place.error, checked_at=checked_at)

    def _outlived(self, place: Place, now: int) -> bool:
        """Is what is known there too old? Checks come regularly but for silences, and are leapt over."""
        script = self._script
        heard = script.heard[place.place]
        i = bisect_right(heard.starts, now) - 1
        if i < 0 or place.checked >= max(heard.starts[i], self._set_at(now)):
            return False
        known = max(heard.ends[i - 1] if i else 0, place.checked)
        seen_at = script.seen_at(place.place, now)
        return quorum.outlived(script.clock.moment(known), seen_at, _APART)

    def _set_at(self, now: int) -> int:
        """When the collector's clock was last set by much; 0 if never."""
        i = bisect_right(self._big, now)
        return self._big[i - 1] if i else 0

    def _open(self, decision: Decision, now: int, moment: datetime) -> None:
        began = next(
            (place.began for place in self.places if place.state.failed_since == decision.since), now
        )
        self.reopened += goes_on(self._resolved_at, _SYSTEM, moment)
        self.incidents.append(Incident(now, began))

    def _since(self, now: int) -> datetime | None:
        """Since when the collector runs, or its clock was set; None while that is fresh."""
        span = self._script.up.last(now)
        started = span[0] if span else 0
        step_at = self._set_at(now)
        if step_at <= started:
            return self._script.clock.moment(started)
        return None if now < step_at + _SETTLING else self._script.clock.moment(step_at)
