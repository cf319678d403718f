"""Builds the events that announce a decision or an action on a monitor."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.evaluation.core.decision import Announcement
from collector.evaluation.storage.locked_monitors import LatestIncident, LockedMonitor
from collector.evaluation.storage.states import StateAtLocation
from collector.events.core import events as payloads
from collector.events.core.kinds import EventKind
from collector.events.core.payloads import (
    EventLocation,
    EventMonitor,
    MonitorChangeEvent,
    MonitorDownEvent,
    MonitorUpEvent,
    ShownStatus,
)
from collector.events.core.timeline import TimelineType
from collector.events.storage.events import Event
from collector.events.storage.timeline import NewTimelineEntry
from collector.incidents.core.payloads import EventNote, IncidentEvent
from collector.incidents.service.incidents import shown
from collector.incidents.storage import reads
from collector.monitors.storage.monitors import Monitor
from collector.platform.access import Actor
from collector.platform.answers import Person
from collector.platform.monitor import status
from collector.platform.people import SERVICE, person
from collector.platform.storage.db import Tx
from collector.web3.core import events as of_chains
from collector.web3.core.web3 import ChainAlert
from collector.web3.storage.news import CheckedChain, UnannouncedLog
from shared import ids

_DELETED: Final = "deleted"


@dataclass(frozen=True, slots=True)
class SystemAction:
    """System's action on an incident: *kind* as in events; *stream_id* and *about* are its monitor's."""

    team_id: int
    incident_id: UUID
    kind: EventKind
    stream_id: UUID
    about: EventMonitor


def about(locked: LockedMonitor, *, down: bool) -> EventMonitor:
    """Return a monitor as events show it."""
    return payloads.monitor_part(
        id_=locked.id,
        name=locked.name,
        type_=locked.type,
        url=locked.url if locked.type == "http" else None,
        status="down" if down else "up",
    )


def event(
    locked: LockedMonitor,
    announcement: Announcement,
    incident: LatestIncident,
    *,
    failures: int,
    error: str,
    until: datetime,
    now: datetime,
) -> Event:
    """Build monitor.down or monitor.up of this incident; *until* is where its downtime ends."""
    going_down = announcement is Announcement.DOWN
    monitor = about(locked, down=going_down)
    payload: MonitorDownEvent | MonitorUpEvent
    if going_down:
        payload = payloads.down(
            monitor,
            incident_id=incident.id,
            severity=incident.severity,
            failures=failures,
            error=error or incident.last_error,
            started_at=incident.started_at,
            now=now,
        )
    else:
        payload = payloads.up(
            monitor,
            incident_id=incident.id,
            severity=incident.severity,
            downtime_s=incident.downtime_s(until),
            now=now,
        )
    return Event(locked.team_id, locked.id, payload.event, payload, incident.id)


def degraded(
    locked: LockedMonitor, places: Sequence[StateAtLocation], *, begins: bool, now: datetime
) -> Event:
    """Build monitor.degraded, which begins or ends."""
    payload = payloads.degraded(about(locked, down=locked.down), _locations(places), begins=begins, now=now)
    return Event(locked.team_id, locked.id, payload.event, payload)


def flapping(
    locked: LockedMonitor, places: Sequence[StateAtLocation], *, begins: bool, now: datetime
) -> Event:
    """Build monitor.flapping, which begins or ends."""
    payload = payloads.flapping(about(locked, down=locked.down), _locations(places), begins=begins, now=now)
    return Event(locked.team_id, locked.id, payload.event, payload)


def _locations(places: Sequence[StateAtLocation]) -> list[EventLocation]:
    return [located(place, bad=place.state.failing) for place in places]


def crossing(
    locked: LockedMonitor, chain: CheckedChain, type_: str, alert: ChainAlert, *, over: bool, now: datetime
) -> Event:
    """Build the event of a crossed threshold of a chain, or of its end (*over*)."""
    about = of_chains.monitor_part(locked.id, locked.name, locked.type, chain.chain)
    payload = of_chains.crossing(about, chain.sub_type, type_, alert, over=over, now=now)
    return Event(locked.team_id, locked.id, payload.event, payload)


def chain_log(locked: LockedMonitor, chain: CheckedChain, log: UnannouncedLog, now: datetime) -> Event:
    """Build the event of a log on a chain, or of its retraction by the chain."""
    about = of_chains.monitor_part(locked.id, locked.name, locked.type, chain.chain)
    payload = of_chains.log(about, chain.sub_type, log.data, removed=log.removed, now=now)
    return Event(locked.team_id, locked.id, payload.event, payload)


def located(place: StateAtLocation, *, bad: bool) -> EventLocation:
    """Return a location as events show it; *bad*: it counts as down in this event."""
    state = place.state
    return EventLocation(
        location=place.name,
        status="down" if bad else "unknown" if place.last_at is None else "up",
        failing=state.failing,
        consecutive_failures=state.fails,
        failing_since=state.failed_since if state.failing else None,
        last_checked_at=place.last_at,
        error=place.error or None,
    )


async def system_actions(tx: Tx, actions: Sequence[SystemAction], now: datetime) -> list[Event]:
    """Build the events of System's actions on incidents, each incident as it is now."""
    incidents = await reads.several(tx, [(action.team_id, action.incident_id) for action in actions])
    return [
        Event(
            action.team_id,
            action.stream_id,
            action.kind,
            IncidentEvent(
                event=action.kind,
                timestamp=now,
                monitor=action.about,
                incident=shown(incidents[action.team_id, action.incident_id], now),
                actor=SERVICE,
            ),
            action.incident_id,
        )
        for action in actions
    ]


def by_hand(
    actor: Actor,
    action: str,
    incident: reads.Incident,
    monitor: Monitor | None,
    note: reads.IncidentNote | None,
    now: datetime,
) -> Event:
    """Build the event of a user's action on an incident: ``created``, ...; *monitor* if it exists."""
    kind = EventKind(f"incident.{action}")
    payload = IncidentEvent(
        event=kind,
        timestamp=now,
        monitor=of_row(monitor, _standing(monitor)) if monitor else None,
        incident=shown(incident, now),
        actor=Person(id=actor.id, name=actor.name),
        note=_note(incident.id, note) if note else None,
    )
    stream = monitor.id if monitor else incident.id
    return Event(actor.team_id, stream, kind, payload, incident.id)


def held_by_parent(team_id: int, incident_id: UUID, parent: str) -> NewTimelineEntry:
    """Build the timeline entry that says why no notification was sent."""
    return NewTimelineEntry(team_id, incident_id, TimelineType.PARENT_DOWN, f"Held while {parent} is down")


def change(kind: EventKind, monitor: Monitor, now: datetime) -> Event:
    """Build one of `core.kinds.CHANGES`; *monitor*: as the change left it, or as it was when deleted.

    Append it as the last action of the transaction: the team's other events wait for its end.
    """
    part = of_row(monitor, _DELETED if kind == EventKind.MONITOR_DELETED else _standing(monitor))
    return Event(
        monitor.team_id, monitor.id, kind, MonitorChangeEvent(event=kind, timestamp=now, monitor=part)
    )


def of_row(monitor: Monitor, shown_as: ShownStatus) -> EventMonitor:
    """Return a monitor as events show it."""
    return payloads.monitor_part(
        id_=monitor.id,
        name=monitor.name,
        type_=monitor.type,
        url=monitor.config.get("url") if monitor.type == "http" else None,
        status=shown_as,
    )


def _standing(monitor: Monitor) -> ShownStatus:
    return status(paused_at=monitor.paused_at, down=monitor.down, last_at=monitor.last_at)


def _note(incident_id: UUID, note: reads.IncidentNote) -> EventNote:
    return EventNote(
        id=ids.show("note", note.id),
        incident_id=ids.show("inc", incident_id),
        text=note.text,
        created_by=person(note.created_by) or SERVICE,
        created_at=note.created_at,
    )
