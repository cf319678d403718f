"""When to notify, remind and escalate an alert: timers stored as dates, so that restarts keep them."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

from collector.evaluation.core.holds import AllowedEffects, Reminders

# How often a held alert is evaluated: not every hold has a known end.
LOOK = timedelta(seconds=5)


class AlertAction(Enum):
    """What to do about an alert now."""

    NOTHING = "nothing"
    NOTIFY = "notify"
    REMIND = "remind"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True)
class EscalationPolicy:
    """*repeat*: the interval of reminders; step k is due *delay* times k after the first notice."""

    repeat: timedelta | None = None
    delay: timedelta | None = None
    steps: int = 0


@dataclass(frozen=True, slots=True)
class EscalationProgress:
    """*notified_at*: the first notice that was not held; *escalations*: steps taken since."""

    notified_at: datetime | None = None
    reminded_at: datetime | None = None
    escalations: int = 0


@dataclass(frozen=True, slots=True)
class NextStep:
    """*due_at*: when to evaluate again; None if only an event can change anything."""

    action: AlertAction
    progress: EscalationProgress
    due_at: datetime | None


def step(
    policy: EscalationPolicy,
    progress: EscalationProgress,
    free: AllowedEffects,
    *,
    acknowledged: bool,
    opened_at: datetime | None,
    now: datetime,
) -> NextStep:
    """Return what to do now, and the alert's progress after it.

    *opened_at*: when its incident opened or was reopened, None without one: a reopening starts anew.
    """
    if acknowledged:
        return NextStep(AlertAction.NOTHING, progress, None)
    notified_at = progress.notified_at
    if notified_at is None or (opened_at is not None and opened_at > notified_at):
        if not free.openings:
            return NextStep(AlertAction.NOTHING, progress, now + LOOK)
        fresh = EscalationProgress(now, now)
        return NextStep(AlertAction.NOTIFY, fresh, _next_due(policy, fresh))
    stopped = free.reminders in {Reminders.STOP, Reminders.AFRESH}
    due = None if stopped else _next_due(policy, progress)
    if due is None or due > now:
        return NextStep(AlertAction.NOTHING, progress, due)
    if free.reminders is Reminders.HELD:
        return NextStep(AlertAction.NOTHING, progress, now + LOOK)
    return _fallen_due(policy, progress, now)


def _fallen_due(policy: EscalationPolicy, progress: EscalationProgress, now: datetime) -> NextStep:
    """Of steps that are due together, after a hold or without a running collector, take only the last."""
    reached = _reached(policy, progress, now)
    if reached > progress.escalations:
        after = replace(progress, escalations=reached)
        return NextStep(AlertAction.ESCALATE, after, _next_due(policy, after))
    after = replace(progress, reminded_at=now)
    return NextStep(AlertAction.REMIND, after, _next_due(policy, after))


def _reached(policy: EscalationPolicy, progress: EscalationProgress, now: datetime) -> int:
    if policy.delay is None or progress.notified_at is None:
        return 0
    return min(policy.steps, (now - progress.notified_at) // policy.delay)


def _next_due(policy: EscalationPolicy, progress: EscalationProgress) -> datetime | None:
    due = []
    if policy.delay is not None and progress.notified_at and progress.escalations < policy.steps:
        due.append(progress.notified_at + policy.delay * (progress.escalations + 1))
    if policy.repeat is not None and progress.reminded_at:
        due.append(progress.reminded_at + policy.repeat)
    return min(due, default=None)
