"""Turns a decision into row changes: the incident, its log, the outage and events."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.evaluation import event_writer
from collector.evaluation.core.decision import Announcement, Decision, IncidentAction, after, goes_on
from collector.evaluation.core.state import CheckStreak
from collector.evaluation.storage import certificates, locked_monitors
from collector.evaluation.storage.certificates import SeverityIncrease
from collector.evaluation.storage.locked_monitors import LatestIncident, LockedMonitor
from collector.evaluation.suppression import SuppressionContext, as_decided
from collector.events.core.kinds import EventKind
from collector.events.core.timeline import TimelineType
from collector.events.storage import events, timeline
from collector.events.storage.events import Event
from collector.events.storage.timeline import NewTimelineEntry
from collector.history.core import certificate
from collector.history.core.hours import between, end
from collector.history.storage import outages, rollups
from collector.incidents.storage import evidence, incidents
from collector.platform.storage.db import Tx
from shared.ids import uuid7

# An outage's incident begins, or goes on.
_BEGINS: Final = frozenset({TimelineType.CREATED, TimelineType.REOPENED})


@dataclass(slots=True)
class DecisionChanges:
    """The row changes of one round of decisions, written in sets; *states*: monitor, location, streak."""

    states: list[tuple[int, int, CheckStreak]] = field(default_factory=list)
    monitors: list[LockedMonitor] = field(default_factory=list)
    began: list[outages.MeasurementChange] = field(default_factory=list)
    ended: list[outages.MeasurementChange] = field(default_factory=list)
    opened: list[incidents.OpenedIncident] = field(default_factory=list)
    reopened: list[tuple[int, UUID, datetime]] = field(default_factory=list)
    resolved: list[tuple[int, UUID, datetime]] = field(default_factory=list)
    linked: list[tuple[int, UUID, UUID]] = field(default_factory=list)
    counted: list[tuple[int, UUID, int, str]] = field(default_factory=list)
    graver: list[SeverityIncrease] = field(default_factory=list)
    entries: list[NewTimelineEntry] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    actions: list[event_writer.SystemAction] = field(default_factory=list)


def apply_decision(
    locked: LockedMonitor,
    decision: Decision,
    around: SuppressionContext,
    now: datetime,
    writes: DecisionChanges,
) -> None:
    """Add the changes that *decision* makes to this monitor to *writes*."""
    incident, change = _incident(locked, decision, now, writes)
    if incident is not None:
        _record(locked, incident, change, decision, now, writes)
        _link(locked, incident, change, around, writes)
    if decision.turned and decision.down:
        writes.began.append((locked.monitor, 0, decision.since))
    elif decision.turned:
        writes.ended.append((locked.monitor, 0, decision.until))
    left = _after(locked, decision) if _moves(locked, decision) else locked
    if left != locked:
        writes.monitors.append(left)


async def write(tx: Tx, writes: DecisionChanges, now: datetime) -> None:
    """Write all changes."""
    await _keep_incidents(tx, writes, now)
    if writes.monitors:
        await locked_monitors.save(tx, writes.monitors, now)
    await _keep_outages(tx, writes, now)
    if writes.began or writes.opened:
        failing = {monitor for monitor, _, _ in writes.began}
        await evidence.keep(tx, failing, [(opened.team_id, opened.id) for opened in writes.opened])
    # Last: appending takes the team's next position, for which the team's other transactions wait.
    made = await event_writer.system_actions(tx, writes.actions, now) if writes.actions else []
    if announced := [*writes.events, *made]:
        await events.append_all(tx, announced, now)


def _incident(
    locked: LockedMonitor, decision: Decision, now: datetime, writes: DecisionChanges
) -> tuple[LatestIncident | None, TimelineType | None]:
    """Return the incident that the decision concerns, and its change, if there is any."""
    team, newest, opened = locked.team_id, locked.incident, locked.open_incident
    if decision.action is IncidentAction.RESOLVE and opened is not None:
        until = max(decision.until, opened.span_from)
        writes.resolved.append((team, opened.id, until))
        return replace(opened, resolved_at=until, spans_s=opened.downtime_s(until)), TimelineType.RESOLVED
    if decision.action is not IncidentAction.OPEN or opened is not None:
        return opened or newest, None
    # A location that kept failing was counted as down until that resolve.
    since = max(decision.since, newest.resolved_at) if newest and newest.resolved_at else decision.since
    if newest is not None and goes_on(newest.resolved_at, newest.resolved_by, now):
        writes.reopened.append((team, newest.id, since))
        again = replace(newest, resolved_at=None, resolved_by=None, span_from=since, parent_incident_id=None)
        return again, TimelineType.REOPENED
    id_ = uuid7()
    severity = certificate.SEVERITY if _nears(locked, decision) else locked.severity
    writes.opened.append(incidents.OpenedIncident(team, id_, locked.id, locked.name, severity, since))
    return LatestIncident(id_, severity, since, since, 0, decision.error, None, None), TimelineType.CREATED


def _nears(locked: LockedMonitor, decision: Decision) -> bool:
    """Whether the only fault is that a certificate expires soon."""
    return locked.type == "tls" and decision.nears


def _record(
    locked: LockedMonitor,
    incident: LatestIncident,
    change: TimelineType | None,
    decision: Decision,
    now: datetime,
    writes: DecisionChanges,
) -> None:
    """Add the incident's timeline entries, its count of failures and its events."""
    team = locked.team_id
    concerned = incident.resolved_at is None or change is not None
    entries = list(decision.entries) if concerned else []
    if change is not None and change in _BEGINS:
        entries.insert(0, (change, decision.error))
    if change is TimelineType.RESOLVED:
        entries.append((change, "Recovered"))
    writes.entries.extend(NewTimelineEntry(team, incident.id, type_, details) for type_, details in entries)
    fresh = change in _BEGINS
    failures = decision.failures if fresh else decision.failed_now
    if failures and concerned:
        writes.counted.append((team, incident.id, failures, decision.error))
        if _graver(locked, incident, decision):
            writes.graver.append(SeverityIncrease(team, incident.id, locked.monitor, locked.severity))
    if decision.announcement is not Announcement.NOTHING:
        announced = event_writer.event(
            locked,
            decision.announcement,
            incident,
            failures=decision.failures,
            error=decision.error,
            until=now,
            now=now,
        )
        writes.events.append(announced)
    if change is not None:
        about = event_writer.about(locked, down=decision.down)
        writes.actions.append(
            event_writer.SystemAction(team, incident.id, EventKind(f"incident.{change}"), locked.id, about)
        )


def _graver(locked: LockedMonitor, incident: LatestIncident, decision: Decision) -> bool:
    """Whether the incident may have been opened for an expiring certificate, and something else fails now."""
    eased = locked.type == "tls" and incident.severity == certificate.SEVERITY != locked.severity
    return eased and not decision.nears


def _link(
    locked: LockedMonitor,
    incident: LatestIncident,
    change: TimelineType | None,
    around: SuppressionContext,
    writes: DecisionChanges,
) -> None:
    """Link the incident to the parent's, which is its probable cause."""
    parent = around.parent
    if change not in _BEGINS or parent is None or parent.incident_id is None:
        return
    writes.linked.append((locked.team_id, incident.id, parent.incident_id))
    writes.entries.append(event_writer.held_by_parent(locked.team_id, incident.id, parent.name))


def _moves(locked: LockedMonitor, decision: Decision) -> bool:
    """Whether the decision may change the monitor's row; most failures do not."""
    if (
        decision.turned
        or decision.action is not IncidentAction.NONE
        or decision.announcement is not Announcement.NOTHING
    ):
        return True
    held = locked.unrecorded_until, locked.degraded_since, locked.flapping_since
    return held != (decision.unrecorded_until, decision.degraded_since, decision.flapping_since)


def _after(locked: LockedMonitor, decision: Decision) -> LockedMonitor:
    """Return the monitor's row after the decision."""
    left = after(as_decided(locked), decision)
    return replace(
        locked,
        down=left.down,
        announced=left.announced,
        reannounce=left.reannounce,
        unrecorded_until=left.unrecorded_until,
        degraded_since=left.degraded_since,
        degraded_announced=locked.degraded_announced and decision.announcement is not Announcement.DOWN,
        flapping_since=left.flapping_since,
        turned_at=list(left.turned_at),
    )


async def _keep_incidents(tx: Tx, writes: DecisionChanges, now: datetime) -> None:
    if writes.opened:
        await incidents.open_(tx, writes.opened, now)
    if writes.reopened:
        await incidents.reopen(tx, writes.reopened, now)
    if writes.counted:
        await incidents.count_failures(tx, writes.counted)
    if writes.graver:
        raised = await certificates.raise_severity(tx, writes.graver)
        writes.entries.extend(_raised(graver) for graver in raised)
    if writes.resolved:
        await incidents.resolve(tx, writes.resolved)
    if writes.linked:
        await incidents.link(tx, writes.linked)
    if writes.entries:
        await timeline.add(tx, writes.entries, now)


def _raised(graver: SeverityIncrease) -> NewTimelineEntry:
    return NewTimelineEntry(
        graver.team_id,
        graver.incident_id,
        TimelineType.SEVERITY_CHANGED,
        f"{certificate.SEVERITY} to {graver.severity}",
    )


async def _keep_outages(tx: Tx, writes: DecisionChanges, now: datetime) -> None:
    if writes.ended:
        await outages.close(tx, writes.ended)
    if writes.began:
        await outages.open_(tx, writes.began)
    if changed := [(monitor, at) for monitor, _, at in (*writes.ended, *writes.began)]:
        until = end(now, await rollups.until(tx))
        if hours := {(monitor, hour) for monitor, at in changed for hour in between(at, until)}:
            await rollups.mark(tx, hours)
