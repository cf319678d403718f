"""Evaluates one rule on one monitor: fires, recovers, reminds or escalates its alert."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from collector.alerts.core import escalation
from collector.alerts.core.conditions import Reason, RuleFacts, fires, of_web3, undecided
from collector.alerts.core.escalation import AlertAction, EscalationPolicy, EscalationProgress, NextStep
from collector.alerts.core.rule_fields import Conditions
from collector.alerts.core.status import AlertStatus
from collector.alerts.service import notices
from collector.alerts.storage.alerts import Alert
from collector.alerts.storage.rules import RuleRow
from collector.evaluation import event_writer
from collector.evaluation.core.holds import AllowedEffects
from collector.evaluation.storage.locked_monitors import LatestIncident, LockedMonitor
from collector.evaluation.storage.rule_triggers import Key
from collector.evaluation.storage.states import StateAtLocation
from collector.events.core.kinds import EventKind
from collector.events.core.timeline import TimelineType
from collector.events.storage.events import Event
from collector.events.storage.timeline import NewTimelineEntry
from collector.incidents.core.status import IncidentStatus
from collector.notifications.storage.channels import Addressee
from shared import ids

# How often a condition whose end causes no event is evaluated again.
_OF_CHECKS = timedelta(seconds=5)
_OF_WINDOWS = timedelta(seconds=30)
# How soon a rate of too few checks is evaluated again.
_LEAST_WAIT = timedelta(seconds=1)
_MOST_WAIT = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class MonitorSnapshot:
    """A monitor with all that its rules may need; *free*: what its holds allow."""

    one: LockedMonitor
    places: Sequence[StateAtLocation]
    free: AllowedEffects
    channels: Mapping[UUID, Addressee]


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """A rule and its facts about the monitor; *ends_at*: when a single finding stops counting for it."""

    rule: RuleRow
    conditions: Conditions
    facts: RuleFacts
    interval_s: int
    ends_at: datetime | None = None


@dataclass(slots=True)
class AlertChanges:
    """The changes that the evaluation makes."""

    fired: list[Alert] = field(default_factory=list)
    changed: list[Alert] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    entries: list[NewTimelineEntry] = field(default_factory=list)
    later: dict[Key, datetime] = field(default_factory=dict)


def evaluate_rule(
    seen: MonitorSnapshot,
    applied: AppliedRule | None,
    alert: Alert | None,
    now: datetime,
    writes: AlertChanges,
) -> None:
    """Evaluate a rule on a monitor.

    *applied* None: the rule is deleted, disabled, or for other monitors; *alert*: what it fired before.
    """
    reason = fires(applied.conditions, applied.facts) if applied else None
    if alert is not None and alert.status != AlertStatus.RECOVERED:
        _go_on(seen, applied, alert, reason, now, writes)
        return
    if alert is not None:
        muted = alert.muted_until is not None and alert.muted_until > now and reason is not None
        if muted:
            return
        writes.changed.append(replace(alert, muted_until=None, due_at=None))
    if applied and reason is None and undecided(applied.conditions, applied.facts):
        key, again = (seen.one.team_id, seen.one.id), now + _soon(applied.interval_s)
        writes.later[key] = min(again, writes.later.get(key, again))
    if applied and reason and _may_fire(seen, applied, reason):
        fired = _fire(seen, applied, reason, now)
        writes.fired.append(_continue(seen, applied, _linked(seen.one, fired, now), reason, now, writes))


def _soon(interval_s: int) -> timedelta:
    """In time for the next check, without evaluating much more often than checks run."""
    return min(max(timedelta(seconds=interval_s / 4), _LEAST_WAIT), _MOST_WAIT)


def _may_fire(seen: MonitorSnapshot, applied: AppliedRule, reason: Reason) -> bool:
    """Whether no hold forbids it; an announced outage and a Web3 finding have passed the holds already."""
    return applied.conditions.empty or of_web3(reason.key) or (seen.free.opens and seen.free.moves)


def _fire(seen: MonitorSnapshot, applied: AppliedRule, reason: Reason, now: datetime) -> Alert:
    monitor, incident = seen.one, seen.one.open_incident
    return Alert(
        team_id=monitor.team_id,
        id=ids.uuid7(),
        rule_id=applied.rule.id,
        rule_name=applied.rule.name,
        monitor_id=monitor.id,
        monitor_name=monitor.name,
        reason=reason.key,
        value=reason.value,
        threshold=reason.threshold,
        fired_at=now,
        incident_id=incident.id if incident else None,
    )


def _go_on(
    seen: MonitorSnapshot,
    applied: AppliedRule | None,
    alert: Alert,
    reason: Reason | None,
    now: datetime,
    writes: AlertChanges,
) -> None:
    if applied is None or (reason is None and _is_well(seen, applied, alert)):
        writes.changed.append(_recovered(seen, applied, alert, now, writes))
        return
    left = _continue(seen, applied, _linked(seen.one, alert, now), reason, now, writes)
    if left != alert:
        writes.changed.append(left)


def _is_well(seen: MonitorSnapshot, applied: AppliedRule, alert: Alert) -> bool:
    """Whether the alert is over; a Web3 alert is once its end was announced."""
    if applied.conditions.empty or of_web3(alert.reason):
        return True
    return not seen.one.down and seen.free.recovery


def _linked(monitor: LockedMonitor, alert: Alert, now: datetime) -> Alert:
    """Link the alert to the open incident and take over the incident's acknowledgement."""
    incident = monitor.open_incident
    if incident is None:
        return alert
    taken, status = incident.status == IncidentStatus.ACKNOWLEDGED, alert.status
    if taken and status == AlertStatus.FIRING:
        return replace(alert, status=AlertStatus.ACKNOWLEDGED, acknowledged_at=now, incident_id=incident.id)
    if status == AlertStatus.ACKNOWLEDGED and not taken and _opened_again(incident, alert.acknowledged_at):
        return replace(alert, status=AlertStatus.FIRING, acknowledged_at=None, acknowledged_by=None)
    return alert if alert.incident_id == incident.id else replace(alert, incident_id=incident.id)


def _opened_again(incident: LatestIncident, after: datetime | None) -> bool:
    return after is not None and incident.reopened_at is not None and incident.reopened_at > after


def _continue(
    seen: MonitorSnapshot,
    applied: AppliedRule,
    alert: Alert,
    reason: Reason | None,
    now: datetime,
    writes: AlertChanges,
) -> Alert:
    """Notify what is due and return the alert after it, with the time of its next evaluation."""
    incident = seen.one.open_incident
    anew = reason is not None and _is_news(alert, reason)
    opened_at = now if anew else incident.reopened_at if incident is not None else None
    step = escalation.step(
        _policy(applied.rule),
        EscalationProgress(alert.notified_at, alert.reminded_at, alert.escalations),
        seen.free,
        acknowledged=alert.status == AlertStatus.ACKNOWLEDGED and not anew,
        opened_at=opened_at,
        now=now,
    )
    progress = step.progress
    after = replace(
        alert,
        notified_at=progress.notified_at,
        reminded_at=progress.reminded_at,
        escalations=progress.escalations,
        due_at=_due(seen, applied, step, reason, now),
    )
    if step.action is AlertAction.NOTHING:
        return after
    if anew and reason is not None:
        after = _renewed(after, reason)
    return _notify(seen, applied, after, step.action, reason, now, writes)


def _is_news(alert: Alert, reason: Reason) -> bool:
    """Whether this is not the trouble that the alert announced. A Web3 monitor may have several at once."""
    if not of_web3(alert.reason) or not of_web3(reason.key):
        return of_web3(alert.reason) or of_web3(reason.key)
    if reason.single and reason.key == alert.reason:
        return False
    return alert.notified_at is None or reason.told_at is None or reason.told_at > alert.notified_at


def _renewed(alert: Alert, reason: Reason) -> Alert:
    """Return the alert with the new reason; an acknowledgement of the old one does not count."""
    told_at = max(filter(None, (alert.notified_at, reason.told_at)), default=None)
    again = replace(
        alert,
        reason=reason.key,
        value=reason.value,
        threshold=reason.threshold,
        # The clock of the collector that announced it may be ahead of ours.
        notified_at=told_at,
    )
    if alert.status != AlertStatus.ACKNOWLEDGED:
        return again
    return replace(again, status=AlertStatus.FIRING, acknowledged_at=None, acknowledged_by=None)


def _notify(
    seen: MonitorSnapshot,
    applied: AppliedRule,
    alert: Alert,
    action: AlertAction,
    reason: Reason | None,
    now: datetime,
    writes: AlertChanges,
) -> Alert:
    rule, monitor = applied.rule, seen.one
    escalates = action is AlertAction.ESCALATE
    kind = EventKind.ALERT_ESCALATED if escalates else EventKind.ALERT_FIRED
    webhooks = escalates or not notices.is_told_anyway(alert, applied.conditions)
    wanted = rule.escalate_to if escalates else rule.channels
    channels = notices.addressed(wanted, seen.channels, kind, monitor.id, webhooks=webhooks)
    first = alert.told_incident_id is None and not alert.told
    after = replace(
        alert,
        told=list(dict.fromkeys((*alert.told, *channels))),
        told_incident_id=alert.incident_id if first else alert.told_incident_id,
    )
    message = reason.message if reason else ""
    writes.events.append(_event(seen, kind, after, channels, now, message))
    if after.incident_id is not None:
        writes.entries.append(_entry(seen, rule, after, action, channels))
    return after


def _recovered(
    seen: MonitorSnapshot, applied: AppliedRule | None, alert: Alert, now: datetime, writes: AlertChanges
) -> Alert:
    after = replace(alert, status=AlertStatus.RECOVERED, recovered_at=now, due_at=None)
    if alert.notified_at is not None:
        quiet = applied is not None and not applied.rule.notify_on_recovery
        kind = EventKind.ALERT_RECOVERED
        channels = notices.addressed(() if quiet else alert.told, seen.channels, kind, seen.one.id)
        writes.events.append(_event(seen, kind, after, channels, now))
    return after


def _event(
    seen: MonitorSnapshot,
    kind: EventKind,
    alert: Alert,
    channels: Sequence[UUID],
    now: datetime,
    message: str = "",
) -> Event:
    one = seen.one
    monitor = event_writer.about(one, down=one.down)
    named = _named(one, alert)
    return notices.event(
        kind, alert, monitor, one.severity, named, seen.places, channels, now, message=message
    )


def _named(monitor: LockedMonitor, alert: Alert) -> LatestIncident | None:
    """Return the incident that the first notice named: paging services identify the alert by it."""
    incident = monitor.incident
    return incident if incident is not None and incident.id == alert.told_incident_id else None


def _entry(
    seen: MonitorSnapshot, rule: RuleRow, alert: Alert, action: AlertAction, channels: Sequence[UUID]
) -> NewTimelineEntry:
    assert alert.incident_id is not None  # noqa: S101 - the caller checks it
    names = ", ".join(seen.channels[id_].name for id_ in channels) or "nobody"
    if action is AlertAction.ESCALATE:
        steps = rule.escalation["maxEscalations"] if rule.escalation else 0
        text = f"{rule.name}, step {alert.escalations} of {steps}: {names}"
        return NewTimelineEntry(alert.team_id, alert.incident_id, TimelineType.ESCALATED, text)
    again = " again" if action is AlertAction.REMIND else ""
    return NewTimelineEntry(
        alert.team_id, alert.incident_id, TimelineType.NOTIFIED, f"{rule.name}{again}: {names}"
    )


def _policy(rule: RuleRow) -> EscalationPolicy:
    repeat = timedelta(minutes=rule.repeat_minutes) if rule.repeat_minutes else None
    if rule.escalation is None:
        return EscalationPolicy(repeat)
    delay = timedelta(minutes=rule.escalation["delayMinutes"])
    return EscalationPolicy(repeat, delay, rule.escalation["maxEscalations"])


def _due(
    seen: MonitorSnapshot, applied: AppliedRule, step: NextStep, reason: Reason | None, now: datetime
) -> datetime | None:
    """When the next step is due, or the next evaluation of a condition that ends without an event."""
    if reason is not None and of_web3(reason.key):
        return min(filter(None, (step.due_at, applied.ends_at)), default=None)
    if applied.conditions.empty or seen.one.down:
        return step.due_at
    windows = (applied.conditions.error_rate_percent, applied.conditions.availability) != (None, None)
    again = now + (_OF_WINDOWS if windows else _OF_CHECKS)
    return min(step.due_at or again, again)
