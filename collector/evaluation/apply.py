"""Turns a decision into row changes: the incident, its log, the outage and events."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from collector.evaluation import event_writer
from collector.evaluation.core.decision import Announcement, Decision, IncidentAction, after, goes_on
from collector.evaluation.core.state import CheckStreak
from collector.evaluation.storage import certificates, locked_monitors
from collector.evaluation.storage.certificates import Graver
from collector.evaluation.storage.locked_monitors import LatestIncident, LockedMonitor
from collector.evaluation.suppression import Surroundings, monitor
from collector.events.core import events as payloads
from collector.events.storage import events, timeline
from collector.events.storage.events import Event
from collector.events.storage.timeline import NewTimelineEntry
from collector.history.core import certificate
from collector.history.core.hours import between, end
from collector.history.storage import outages, rollups
from collector.incidents.storage import evidence, incidents
from collector.platform.storage.db import Tx
from shared.ids import uuid7


@dataclass(slots=True)
class DecisionChanges:
    """The row changes of one round of decisions, written in sets; *states*: monitor, location, streak."""

    states: list[tuple[int, int, CheckStreak]] = field(default_factory=list)
    monitors: list[LockedMonitor] = field(default_factory=list)
    began: list[outages.Turn] = field(default_factory=list)
    ended: list[outages.Turn] = field(default_factory=list)
    opened: list[incidents.Opened] = field(default_factory=list)
    reopened: list[tuple[int, UUID, datetime]] = field(default_factory=list)
    resolved: list[tuple[int, UUID, datetime]] = field(default_factory=list)
    linked: list[tuple[int, UUID, UUID]] = field(default_factory=list)
    counted: list[tuple[int, UUID, int, str]] = field(default_factory=list)
    graver: list[Graver] = field(default_factory=list)
    entries: list[NewTimelineEntry] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    deeds: list[event_writer.SystemAction] = field(default_factory=list)


def apply_decision(
    one: LockedMonitor, decision: Decision, around: Surroundings, now: datetime, writes: DecisionChanges
) -> None:
    """Add the changes that *decision* makes to this monitor to *writes*."""
    incident, kind = _incident(one, decision, now, writes)
    if incident is not None:
        _record(one, incident, kind, decision, now, writes)
        _link(one, incident, kind, around, writes)
    if decision.turned and decision.down:
        writes.began.append((one.monitor, 0, decision.since))
    elif decision.turned:
        writes.ended.append((one.monitor, 0, decision.until))
    left = _after(one, decision) if _moves(one, decision) else one
    if left != one:
        writes.monitors.append(left)


async def write(tx: Tx, writes: DecisionChanges, now: datetime) -> None:
    """Write all changes."""
    await _keep_incidents(tx, writes, now)
    if writes.monitors:
        await locked_monitors.save(tx, writes.monitors, now)
    await _keep_outages(tx, writes, now)
    if writes.began or writes.opened:
        failing = {monitor for monitor, _, _ in writes.began}
        await evidence.keep(tx, failing, [(one.team_id, one.id) for one in writes.opened])
    # Last: appending takes the team's next position, for which the team's other transactions wait.
    told = [*writes.events, *(await event_writer.deeds(tx, writes.deeds, now) if writes.deeds else [])]
    if told:
        await events.append_all(tx, told, now)


def _incident(
    one: LockedMonitor, decision: Decision, now: datetime, writes: DecisionChanges
) -> tuple[LatestIncident | None, str | None]:
    """Return the incident that the decision concerns, and what happened to it in the timeline's words."""
    team, newest, opened = one.team_id, one.incident, one.open_incident
    if decision.deed is IncidentAction.RESOLVE and opened is not None:
        until = max(decision.until, opened.span_from)
        writes.resolved.append((team, opened.id, until))
        return replace(opened, resolved_at=until, spans_s=opened.downtime_s(until)), "resolved"
    if decision.deed is not IncidentAction.OPEN or opened is not None:
        return opened or newest, None
    # A location that kept failing was counted as down until that resolve.
    since = max(decision.since, newest.resolved_at) if newest and newest.resolved_at else decision.since
    if newest is not None and goes_on(newest.resolved_at, newest.resolved_by, now):
        writes.reopened.append((team, newest.id, since))
        again = replace(newest, resolved_at=None, resolved_by=None, span_from=since, parent_incident_id=None)
        return again, "reopened"
    id_ = uuid7()
    severity = certificate.SEVERITY if _nears(one, decision) else one.severity
    writes.opened.append(incidents.Opened(team, id_, one.id, one.name, severity, since))
    return LatestIncident(id_, severity, since, since, 0, decision.error, None, None), "created"


def _nears(one: LockedMonitor, decision: Decision) -> bool:
    """Whether the only fault is that a certificate expires soon."""
    return one.type == "tls" and decision.nears


def _record(
    one: LockedMonitor,
    incident: LatestIncident,
    kind: str | None,
    decision: Decision,
    now: datetime,
    writes: DecisionChanges,
) -> None:
    """Add the incident's timeline entries, its count of failures and its events."""
    team = one.team_id
    concerned = incident.resolved_at is None or kind is not None
    entries = list(decision.entries) if concerned else []
    if kind in {"created", "reopened"}:
        entries.insert(0, (kind, decision.error))
    if kind == "resolved":
        entries.append((kind, "Recovered"))
    writes.entries.extend(NewTimelineEntry(team, incident.id, type_, details) for type_, details in entries)
    fresh = kind in {"created", "reopened"}
    failures = decision.failures if fresh else decision.failed_now
    if failures and concerned:
        writes.counted.append((team, incident.id, failures, decision.error))
        if _graver(one, incident, decision):
            writes.graver.append(Graver(team, incident.id, one.monitor, one.severity))
    if decision.tell is not Announcement.NOTHING:
        told = event_writer.event(
            one,
            decision.tell,
            incident,
            failures=decision.failures,
            error=decision.error,
            until=now,
            now=now,
        )
        writes.events.append(told)
    if kind is not None:
        about = event_writer.about(one, down=decision.down)
        writes.deeds.append(
            event_writer.SystemAction(team, incident.id, f"{payloads.INCIDENT}.{kind}", one.id, about)
        )


def _graver(one: LockedMonitor, incident: LatestIncident, decision: Decision) -> bool:
    """Whether the incident may have been opened for an expiring certificate, and something else fails now."""
    eased = one.type == "tls" and incident.severity == certificate.SEVERITY != one.severity
    return eased and not decision.nears


def _link(
    one: LockedMonitor,
    incident: LatestIncident,
    kind: str | None,
    around: Surroundings,
    writes: DecisionChanges,
) -> None:
    """Link the incident to the parent's, which is its probable cause."""
    parent = around.parent
    if kind not in {"created", "reopened"} or parent is None or parent.incident_id is None:
        return
    writes.linked.append((one.team_id, incident.id, parent.incident_id))
    writes.entries.append(event_writer.held_by_parent(one.team_id, incident.id, parent.name))


def _moves(one: LockedMonitor, decision: Decision) -> bool:
    """Whether the decision may change the monitor's row; most failures do not."""
    if (
        decision.turned
        or decision.deed is not IncidentAction.NONE
        or decision.tell is not Announcement.NOTHING
    ):
        return True
    held = one.unrecorded_until, one.degraded_since, one.flapping_since
    return held != (decision.unrecorded_until, decision.degraded_since, decision.flapping_since)


def _after(one: LockedMonitor, decision: Decision) -> LockedMonitor:
    """Return the monitor's row after the decision."""
    left = after(monitor(one), decision)
    return replace(
        one,
        down=left.down,
        told=left.told,
        owed=left.owed,
        unrecorded_until=left.unrecorded_until,
        degraded_since=left.degraded_since,
        degraded_told=one.degraded_told and decision.tell is not Announcement.DOWN,
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
        writes.entries.extend(_raised(one) for one in raised)
    if writes.resolved:
        await incidents.resolve(tx, writes.resolved)
    if writes.linked:
        await incidents.link(tx, writes.linked)
    if writes.entries:
        await timeline.add(tx, writes.entries, now)


def _raised(one: Graver) -> NewTimelineEntry:
    return NewTimelineEntry(
        one.team_id, one.incident_id, "severity_changed", f"{certificate.SEVERITY} to {one.severity}"
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
