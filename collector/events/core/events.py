"""Events: the parts of their payloads, and the fields that are added when they are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.events.core.downtime import formatted
from collector.events.core.kinds import EventKind
from collector.events.core.payloads import (
    ChannelEvent,
    EndedIncident,
    EventChannel,
    EventEnvelope,
    EventLinks,
    EventLocation,
    EventMonitor,
    MonitorDegradedEvent,
    MonitorDownEvent,
    MonitorFlappingEvent,
    MonitorMeasuredEvent,
    MonitorUnmeasuredEvent,
    MonitorUpEvent,
    ShownStatus,
    StartedIncident,
)
from collector.platform.answer_json import json_object
from collector.platform.monitor import Severity
from shared import ids


@dataclass(frozen=True, slots=True)
class Fact:
    """An event as it is stored: *payload* without id, sequence and links."""

    id: UUID
    kind: str
    stream_id: UUID
    sequence: int
    payload: Mapping[str, Any]
    incident_id: UUID | None


def body(fact: Fact, public_url: str) -> dict[str, Any]:
    """Return the event as receivers get it; *public_url*: the base of its links, without a final slash."""
    envelope = EventEnvelope(
        id=ids.show("evt", fact.id), sequence=fact.sequence, links=_links(fact, public_url)
    )
    return enveloped(fact.kind, fact.payload, envelope)


def enveloped(kind: str, payload: Mapping[str, Any], envelope: EventEnvelope) -> dict[str, Any]:
    """Return an event's JSON object; *payload*: that of its payload, in which the kind may stand already."""
    return {
        "event": kind,
        "id": envelope.id,
        "sequence": envelope.sequence,
        **{name: value for name, value in payload.items() if name != "event"},
        "links": json_object(envelope.links),
    }


def monitor_part(*, id_: UUID, name: str, type_: str, url: str | None, status: ShownStatus) -> EventMonitor:
    """Build the monitor's part; *url* is None unless it is an http monitor."""
    return EventMonitor(id=ids.show("mon", id_), name=name, type=type_, url=url, status=status)


def down(
    monitor: EventMonitor,
    *,
    incident_id: UUID,
    severity: Severity,
    failures: int,
    error: str,
    started_at: datetime,
    now: datetime,
) -> MonitorDownEvent:
    """Build monitor.down; *failures*: failed checks since the last good one, over all locations."""
    incident = StartedIncident(
        id=ids.show("inc", incident_id),
        severity=severity,
        consecutive_failures=failures,
        last_error=error,
        downtime=max(0, int((now - started_at).total_seconds())),
    )
    return MonitorDownEvent(event=EventKind.MONITOR_DOWN, timestamp=now, monitor=monitor, incident=incident)


def up(
    monitor: EventMonitor, *, incident_id: UUID, severity: Severity, downtime_s: int, now: datetime
) -> MonitorUpEvent:
    """Build monitor.up; *downtime_s*: seconds of all open spans of the incident."""
    incident = EndedIncident(
        id=ids.show("inc", incident_id),
        severity=severity,
        downtime_seconds=downtime_s,
        downtime_formatted=formatted(downtime_s),
    )
    return MonitorUpEvent(event=EventKind.MONITOR_UP, timestamp=now, monitor=monitor, incident=incident)


def degraded(
    monitor: EventMonitor, locations: Sequence[EventLocation], *, begins: bool, now: datetime
) -> MonitorDegradedEvent:
    """Build monitor.degraded, which begins or ends."""
    return MonitorDegradedEvent(
        event=EventKind.MONITOR_DEGRADED,
        timestamp=now,
        monitor=monitor,
        degraded=begins,
        location_states=locations,
    )


def flapping(
    monitor: EventMonitor, locations: Sequence[EventLocation], *, begins: bool, now: datetime
) -> MonitorFlappingEvent:
    """Build monitor.flapping, which begins or ends."""
    return MonitorFlappingEvent(
        event=EventKind.MONITOR_FLAPPING,
        timestamp=now,
        monitor=monitor,
        flapping=begins,
        location_states=locations,
    )


def channel(
    kind: EventKind, *, id_: UUID, name: str, type_: str, since: datetime, error: str, now: datetime
) -> ChannelEvent:
    """Build channel.failing or channel.recovered; *since*: when it began to fail, *error*: the last one."""
    part = EventChannel(
        id=ids.show("chan", id_), name=name, type=type_, failing_since=since, last_error=error
    )
    return ChannelEvent(event=kind, timestamp=now, channel=part)


def measurement(
    monitor: EventMonitor, *, measured: bool, since: datetime, error: str, now: datetime
) -> MonitorMeasuredEvent | MonitorUnmeasuredEvent:
    """Build monitor.unmeasured or monitor.measured; *since*: when a check last measured anything.

    *error*: of the newest unknown check.
    """
    if measured:
        return MonitorMeasuredEvent(
            event=EventKind.MONITOR_MEASURED, timestamp=now, monitor=monitor, not_measured_since=since
        )
    return MonitorUnmeasuredEvent(
        event=EventKind.MONITOR_UNMEASURED,
        timestamp=now,
        monitor=monitor,
        not_measured_since=since,
        last_error=error,
    )


def _links(fact: Fact, public_url: str) -> EventLinks:
    if fact.kind in {EventKind.PROBE_OFFLINE, EventKind.PROBE_ONLINE}:
        return EventLinks(probe=f"{public_url}/probes/{ids.show('prb', fact.stream_id)}")
    if fact.kind in {EventKind.CHANNEL_FAILING, EventKind.CHANNEL_RECOVERED}:
        return EventLinks(channel=f"{public_url}/alert-channels/{ids.show('chan', fact.stream_id)}")
    if fact.kind in {EventKind.MAINTENANCE_STARTED, EventKind.MAINTENANCE_ENDED}:
        window = ids.show("mw", fact.stream_id)
        return EventLinks(maintenance_window=f"{public_url}/maintenance-windows/{window}")
    if fact.kind in {EventKind.PAGE_PUBLISHED, EventKind.PAGE_UPDATED}:
        return EventLinks(status_page=f"{public_url}/status/{fact.payload['statusPage']['slug']}")
    # An incident without a monitor has a stream of its own.
    of_monitor = fact.stream_id != fact.incident_id
    return EventLinks(
        monitor=f"{public_url}/monitors/{ids.show('mon', fact.stream_id)}" if of_monitor else None,
        incident=f"{public_url}/incidents/{ids.show('inc', fact.incident_id)}" if fact.incident_id else None,
    )
