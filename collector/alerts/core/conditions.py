"""Conditions of an alert rule, evaluated on facts about one monitor."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from collector.alerts.core.rule_fields import Conditions
from collector.evaluation.core.quorum import needed
from collector.web3.core.crossings import NotifiedCrossing, summary
from shared.results import Status

# Below these numbers of checks a rate says nothing.
FEWEST_FOR_RATE = 5
FEWEST_FOR_AVAILABILITY = 10
_CHECKS_OF_A_WINDOW = 10

DOWN = "down"
CONSECUTIVE = "consecutiveFailures"
LATENCY = "latencyThresholdMs"
STATUS_CODE = "statusCode"
ERROR_RATE = "errorRatePercent"
AVAILABILITY = "availability"
# Any other reason is the type of an alert that a Web3 monitor raised.
_OF_CHECKS = frozenset({DOWN, CONSECUTIVE, LATENCY, STATUS_CODE, ERROR_RATE, AVAILABILITY})


@dataclass(frozen=True, slots=True)
class CheckSample:
    """A result as conditions see it."""

    at: datetime
    status: Status
    ms: int
    code: int | None = None


@dataclass(frozen=True, slots=True)
class LocationChecks:
    """A voting location: failed checks in a row, and its newest checks, the newest first."""

    fails: int = 0
    checks: Sequence[CheckSample] = ()


@dataclass(frozen=True, slots=True)
class FailureRate:
    """Scheduled checks within a time, and how many of them failed."""

    failed: int
    total: int

    @property
    def percent(self) -> float:
        return 100 * self.failed / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """*down*: the outage was announced. *rate*, *day* and *uptime* (percent) of the last 24 hours
    are None unless a condition needs them. *crossings*: announced Web3 findings that are not over.
    """

    down: bool
    failure_threshold: int
    quorum: str
    places: Sequence[LocationChecks]
    rate: FailureRate | None = None
    day: FailureRate | None = None
    uptime: float | None = None
    crossings: Sequence[NotifiedCrossing] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """The condition that holds, by its key, with the measured value and the rule's limit.

    *message* and *told_at* are of a Web3 finding; *single*: it has no end of its own.
    """

    key: str
    value: float | None = None
    threshold: float | None = None
    message: str = ""
    told_at: datetime | None = None
    single: bool = False


def plain(value: float | None) -> float | None:
    """Return the number as people write it: 3, and not 3.0."""
    return int(value) if value is not None and value == int(value) else value


def depth(conditions: Conditions, failure_threshold: int) -> int:
    """Return how many of a location's newest checks the evaluation needs; 0 for none."""
    if conditions.latency_threshold_ms is None and conditions.status_code is None:
        return 0
    return conditions.consecutive_failures or failure_threshold


def window(conditions: Conditions, interval_s: int) -> timedelta:
    """Return the window of the error rate: long enough for some checks."""
    return max(
        timedelta(minutes=conditions.window_minutes), timedelta(seconds=_CHECKS_OF_A_WINDOW * interval_s)
    )


def of_web3(reason: str) -> bool:
    """Whether it is the type of an alert that a Web3 monitor raised."""
    return reason not in _OF_CHECKS


def fires(conditions: Conditions, facts: RuleFacts) -> Reason | None:
    """Return the reason to alert, if any; of several the first in the order of the fields.

    Web3 findings count for rules with no conditions but failures, after those.
    """
    return _failing(conditions, facts) or (_crossed(facts.crossings) if conditions.plain else None)


def undecided(conditions: Conditions, facts: RuleFacts) -> bool:
    """Whether a rate of too few checks would alert: then the next checks decide, even good ones."""
    limit, rate = conditions.error_rate_percent, facts.rate
    few = limit is not None and rate is not None and rate.total < FEWEST_FOR_RATE
    if few and rate is not None and limit is not None and rate.failed and rate.percent >= limit:
        return True
    limit, day, uptime = conditions.availability, facts.day, facts.uptime
    if limit is None or day is None or uptime is None:
        return False
    return day.total < FEWEST_FOR_AVAILABILITY and uptime < limit


def _failing(conditions: Conditions, facts: RuleFacts) -> Reason | None:
    if conditions.empty:
        return Reason(DOWN) if facts.down else None
    reasons = [term(conditions, facts) for term in _terms(conditions)]
    held = [reason for reason in reasons if reason is not None]
    enough = len(held) == len(reasons) if conditions.match == "all" else bool(held)
    return held[0] if enough else None


def _crossed(crossings: Sequence[NotifiedCrossing]) -> Reason | None:
    """Return the crossing announced last."""
    if not crossings:
        return None
    last = max(crossings, key=lambda crossing: crossing.told_at)
    return Reason(last.key, last.value, last.threshold, summary(crossings), last.told_at, last.single)


def slow(conditions: Conditions, check: CheckSample) -> bool:
    limit = conditions.latency_threshold_ms
    return limit is not None and check.ms > limit


def coded(conditions: Conditions, check: CheckSample) -> bool:
    return conditions.status_code is not None and check.code == conditions.status_code


def bad(conditions: Conditions, check: CheckSample) -> bool:
    """Whether `consecutiveFailures` counts this check."""
    return check.status is Status.DOWN or slow(conditions, check) or coded(conditions, check)


def streak(
    checks: Iterable[CheckSample], is_bad: Callable[[Conditions, CheckSample], bool], conditions: Conditions
) -> int:
    """Return how many of *checks*, the newest first, are bad in a row; unknown ones are skipped."""
    length = 0
    for check in checks:
        if check.status is Status.UNKNOWN:
            continue
        if not is_bad(conditions, check):
            break
        length += 1
    return length


_Term = Callable[[Conditions, RuleFacts], Reason | None]


def _terms(conditions: Conditions) -> list[_Term]:
    """The rule's conditions; a latency or status that defines a bad check is no condition of its own."""
    alone = conditions.consecutive_failures is None
    given: list[tuple[object, _Term]] = [
        (conditions.consecutive_failures, _consecutive),
        (alone and conditions.latency_threshold_ms, _latency),
        (conditions.error_rate_percent, _error_rate),
        (alone and conditions.status_code, _status_code),
        (conditions.availability, _availability),
    ]
    return [term for said, term in given if said]


def _consecutive(conditions: Conditions, facts: RuleFacts) -> Reason | None:
    n = conditions.consecutive_failures or 1
    if depth(conditions, n):
        streaks = [streak(place.checks, bad, conditions) for place in facts.places]
    else:
        streaks = [place.fails for place in facts.places]
    return Reason(CONSECUTIVE, max(streaks), n) if _enough(conditions, facts, streaks, n) else None


def _latency(conditions: Conditions, facts: RuleFacts) -> Reason | None:
    n = facts.failure_threshold
    streaks = [streak(place.checks, slow, conditions) for place in facts.places]
    if not _enough(conditions, facts, streaks, n):
        return None
    took = max(
        next(check.ms for check in place.checks if check.status is not Status.UNKNOWN)
        for place, length in zip(facts.places, streaks, strict=True)
        if length >= n
    )
    return Reason(LATENCY, took, conditions.latency_threshold_ms)


def _status_code(conditions: Conditions, facts: RuleFacts) -> Reason | None:
    n = facts.failure_threshold
    streaks = [streak(place.checks, coded, conditions) for place in facts.places]
    code = conditions.status_code
    return Reason(STATUS_CODE, code, code) if _enough(conditions, facts, streaks, n) else None


def _enough(conditions: Conditions, facts: RuleFacts, streaks: Sequence[int], n: int) -> bool:
    if not streaks:
        return False
    wanted = 1 if conditions.locations == "any" else needed(facts.quorum, len(streaks))
    return sum(length >= n for length in streaks) >= wanted


def _error_rate(conditions: Conditions, facts: RuleFacts) -> Reason | None:
    limit, rate = conditions.error_rate_percent, facts.rate
    if limit is None or rate is None or rate.total < FEWEST_FOR_RATE or rate.percent < limit:
        return None
    return Reason(ERROR_RATE, round(rate.percent, 2), limit)


def _availability(conditions: Conditions, facts: RuleFacts) -> Reason | None:
    limit, day, uptime = conditions.availability, facts.day, facts.uptime
    if limit is None or day is None or uptime is None or day.total < FEWEST_FOR_AVAILABILITY:
        return None
    return Reason(AVAILABILITY, uptime, limit) if uptime < limit else None
