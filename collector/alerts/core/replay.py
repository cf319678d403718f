"""Replays a rule's conditions over past results."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from collector.alerts.core import conditions as core
from collector.alerts.core.conditions import CheckSample, FailureRate, LocationChecks, Reason, RuleFacts
from collector.alerts.core.rule_fields import Conditions, RuleSettings
from shared.results import Status

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class PastResult:
    """A result of a location; *scheduled* ones count in rates."""

    location: int
    check: CheckSample
    scheduled: bool


@dataclass(frozen=True, slots=True)
class MonitorParameters:
    """A monitor's present settings that conditions depend on."""

    failure_threshold: int
    quorum: str
    interval_s: int
    locations: Sequence[int]


@dataclass(frozen=True, slots=True)
class Spell:
    """A time in which the rule would have fired; *until* None: it still would."""

    since: datetime
    until: datetime | None
    reason: Reason


@dataclass(slots=True)
class _CountedChecks:
    """Checks within a time, and how many of them failed."""

    span: timedelta
    checks: deque[CheckSample] = field(default_factory=deque)
    failed: int = 0

    def add(self, check: CheckSample) -> None:
        self.checks.append(check)
        self.failed += check.status is Status.DOWN
        while self.checks and self.checks[0].at < check.at - self.span:
            self.failed -= self.checks.popleft().status is Status.DOWN

    @property
    def rate(self) -> FailureRate:
        return FailureRate(self.failed, len(self.checks))


def replay(
    conditions: Conditions, about: MonitorParameters, results: Iterable[PastResult], outages: Sequence[Spell]
) -> list[Spell]:
    """Return when it would have fired; *results* are sorted by time, *outages* those of the whole monitor.

    An outage keeps an alert open that another condition began. Uptime is the share of good checks.
    """
    if conditions.empty:
        return list(outages)
    depth = core.depth(conditions, about.failure_threshold) or conditions.consecutive_failures or 1
    newest: dict[int, deque[CheckSample]] = {key: deque(maxlen=depth) for key in about.locations}
    window = _CountedChecks(core.window(conditions, about.interval_s))
    day = _CountedChecks(_DAY)
    spells: list[Spell] = []
    for past in results:
        if past.location not in newest or past.check.status is Status.UNKNOWN:
            continue
        newest[past.location].appendleft(past.check)
        if past.scheduled:
            window.add(past.check)
            day.add(past.check)
        reason = core.fires(conditions, _facts(conditions, about, newest.values(), window.rate, day.rate))
        _note(spells, reason, past.check.at, outages)
    return spells


def notices(rule: RuleSettings, spell: Spell, now: datetime) -> tuple[int, int]:
    """Return how many notices its channels would have received, its end included, and the steps due."""
    lasted = (spell.until or now) - spell.since
    notifications = 1 + (rule.notify_on_recovery and spell.until is not None)
    if rule.repeat_minutes:
        notifications += lasted // timedelta(minutes=rule.repeat_minutes)
    policy = rule.escalation_policy
    steps = min(policy.max_escalations, lasted // timedelta(minutes=policy.delay_minutes)) if policy else 0
    return notifications, steps


def _facts(
    conditions: Conditions,
    about: MonitorParameters,
    newest: Iterable[Sequence[CheckSample]],
    window: FailureRate,
    day: FailureRate,
) -> RuleFacts:
    places = [
        LocationChecks(core.streak(checks, core.bad, conditions) if conditions.plain else 0, checks)
        for checks in newest
    ]
    return RuleFacts(
        down=False,
        failure_threshold=about.failure_threshold,
        quorum=about.quorum,
        places=places,
        rate=window,
        day=day,
        uptime=round(100 - day.percent, 4) if day.total else None,
    )


def _note(spells: list[Spell], reason: Reason | None, at: datetime, outages: Sequence[Spell]) -> None:
    present = spells[-1] if spells and spells[-1].until is None else None
    if reason is not None and present is None:
        spells.append(Spell(at, None, reason))
    elif reason is None and present is not None and not _down(outages, at):
        spells[-1] = Spell(present.since, at, present.reason)


def _down(outages: Sequence[Spell], at: datetime) -> bool:
    return any(spell.since <= at and (spell.until is None or at < spell.until) for spell in outages)
