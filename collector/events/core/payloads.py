"""The payloads of events: what is stored of them, sent to webhooks and streamed to followers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from collector.events.core.kinds import EventKind
from collector.platform.answers import (
    AlertId,
    ChannelId,
    EventId,
    Example,
    Identifier,
    IncidentId,
    MonitorId,
    Omitted,
    RuleId,
)
from collector.platform.monitor import Severity

Name = Annotated[str, Example("shop")]
Error = Annotated[str, Example("connect: connection refused by 192.0.2.1:443")]
Url = Annotated[str | None, Omitted()]
ShownStatus = Literal["up", "down", "paused", "deleted"]


class OfflineReason(StrEnum):
    """Why a probe is offline."""

    STOPPED = "stopped"
    LOST = "lost"
    BLIND = "blind"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLinks:
    """URLs of the console and status pages of the event's subjects."""

    monitor: Url = None
    """Page of the monitor."""
    incident: Url = None
    """Page of the incident."""
    probe: Url = None
    """Page of the probe."""
    channel: Url = None
    """Page of the alert channel."""
    maintenance_window: Url = None
    """Page of the maintenance window."""
    status_page: Url = None
    """The status page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventEnvelope:
    """Fields that an event has besides its payload when it is sent."""

    id: EventId
    """Id of the event: the same in every delivery attempt."""
    sequence: Annotated[int, Example(7)]
    """Position among the events of the same monitor or other source; it increases with each event."""
    links: EventLinks
    """Links to details."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPayload:
    """Common fields of the payloads, which are stored with the events."""

    event: EventKind
    """Kind of the event."""
    timestamp: datetime
    """Time of the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMonitor:
    """The monitor of an event."""

    id: MonitorId
    """Id of the monitor."""
    name: Name
    """Name of the monitor."""
    type: Annotated[str, Example("http")]
    """Type of the monitor."""
    url: Annotated[str, Example("https://shop.example.com/")] | None
    """URL of an http monitor; null for other types."""
    status: ShownStatus
    """Status after the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedIncident:
    """The incident of a monitor that went down."""

    id: IncidentId
    """Id of the incident."""
    severity: Severity
    """Severity of the incident."""
    consecutive_failures: Annotated[int, Example(3)]
    """Failed checks since the last successful one, over all locations."""
    last_error: Error
    """Error of the newest failed check."""
    downtime: Annotated[int, Example(12)]
    """Seconds since the outage began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorDownEvent(EventPayload):
    """A monitor went down."""

    monitor: EventMonitor
    """The monitor."""
    incident: StartedIncident
    """Its incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedIncident:
    """The incident of a monitor that is up again."""

    id: IncidentId
    """Id of the incident."""
    severity: Severity
    """Severity of the incident."""
    downtime_seconds: Annotated[int, Example(332)]
    """Seconds for which the incident was open."""
    downtime_formatted: Annotated[str, Example("5m 32s")]
    """The same, formatted for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorUpEvent(EventPayload):
    """A monitor is up again."""

    monitor: EventMonitor
    """The monitor."""
    incident: EndedIncident
    """Its incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorChangeEvent(EventPayload):
    """Somebody created, changed, paused, resumed or deleted a monitor."""

    monitor: EventMonitor
    """The monitor after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLocation:
    """A location of the event's monitor."""

    location: Annotated[str, Example("local")]
    """Name of the location."""
    status: Literal["up", "down", "unknown"]
    """Status of the monitor there, as far as the event is concerned."""
    failing: bool
    """Whether it votes down."""
    consecutive_failures: Annotated[int, Example(1)]
    """Failed checks in a row."""
    failing_since: datetime | None
    """First failed check of a location that votes down."""
    last_checked_at: datetime | None
    """End of its latest check."""
    error: Error | None
    """Error of that check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorDegradedEvent(EventPayload):
    """Too few locations for the quorum see a monitor down; or this has ended."""

    monitor: EventMonitor
    """The monitor."""
    degraded: bool
    """Whether it begins or ends."""
    location_states: Sequence[EventLocation]
    """Status at each location."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFlappingEvent(EventPayload):
    """A monitor changes its status too often; or this has ended."""

    monitor: EventMonitor
    """The monitor."""
    flapping: bool
    """Whether it begins or ends."""
    location_states: Sequence[EventLocation]
    """Status at each location."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorUnmeasuredEvent(EventPayload):
    """No check of a monitor can measure it any more."""

    monitor: EventMonitor
    """The monitor."""
    not_measured_since: datetime
    """Start of the time without measurements."""
    last_error: Error
    """Error of the latest check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorMeasuredEvent(EventPayload):
    """A monitor is measured again."""

    monitor: EventMonitor
    """The monitor."""
    not_measured_since: datetime
    """Start of the time without measurements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventAlert:
    """The alert of an event."""

    id: AlertId
    """Id of the alert."""
    rule_id: RuleId
    """Id of its rule."""
    rule_name: Annotated[str, Example("Shop is slow")]
    """Name of its rule."""
    reason: Annotated[str, Example("latencyThresholdMs")]
    """Condition that was met."""
    value: Annotated[float, Example(912)] | None
    """Measured value; null if the condition has none."""
    threshold: Annotated[float, Example(800)] | None
    """Threshold of the rule; null if the condition has none."""
    fired_at: datetime
    """Time at which it fired."""
    escalation: Annotated[int, Example(0)]
    """Number of escalation steps taken."""
    severity: Severity
    """Severity of its incident, or of its monitor without one."""
    message: Annotated[str | None, Example("gas costs 52.1 gwei, at or above 50"), Omitted()] = None
    """Human-readable reason; present only if there is more to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertIncident:
    """The incident that an alert belongs to."""

    id: IncidentId
    """Id of the incident."""
    severity: Severity
    """Severity of the incident."""
    started_at: datetime
    """Start of the outage."""
    last_error: Error
    """Error of the newest failed check."""
    downtime: Annotated[int, Example(12)]
    """Seconds for which it has been open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertEvent(EventPayload):
    """An alert fired, recovered, or took an escalation step."""

    monitor: EventMonitor
    """The monitor."""
    alert: EventAlert
    """The alert."""
    incident: AlertIncident | None
    """Incident that it belongs to; null without one."""
    location_states: Sequence[EventLocation]
    """Status at each location."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingCertificate:
    """A certificate that expires soon."""

    ends_at: datetime
    """Expiry time."""
    days_left: Annotated[int, Example(13)]
    """Whole days until expiry; negative afterwards."""
    expiry_days: Annotated[int, Example(14)]
    """Number of days before expiry from which it is announced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventIncident:
    """An incident referenced by an event."""

    id: IncidentId
    """Id of the incident."""
    severity: Severity
    """Severity of the incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateExpiringEvent(EventPayload):
    """A certificate expires soon."""

    monitor: EventMonitor
    """The monitor that found it."""
    certificate: EndingCertificate
    """The certificate."""
    incident: EventIncident | None
    """The open incident of the monitor; null without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventProbe:
    """The probe of an event."""

    id: Annotated[str, Identifier("prb")]
    """Id of the probe."""
    name: Annotated[str, Example("eu-1")]
    """Name of the probe."""
    locations: Sequence[Annotated[str, Example("eu")]]
    """Locations that it checks from."""
    version: Annotated[str, Example("0.2.0")]
    """Version of the program."""
    last_seen_at: datetime
    """Time of its last message."""
    reason: OfflineReason
    """Why it is, or was, offline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOfflineEvent(EventPayload):
    """A probe went offline."""

    probe: EventProbe
    """The probe."""
    affected_monitors: Annotated[int, Example(12)]
    """Number of the team's monitors that no other probe has taken over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOnlineEvent(EventPayload):
    """A probe is online again."""

    probe: EventProbe
    """The probe."""
    offline_since: datetime
    """Time since which it was offline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventChannel:
    """The alert channel of an event."""

    id: ChannelId
    """Id of the channel."""
    name: Annotated[str, Example("ops")]
    """Name of the channel."""
    type: Annotated[str, Example("webhook")]
    """Type of the channel."""
    failing_since: datetime
    """Time of the first of the latest consecutive failed attempts."""
    last_error: Annotated[str, Example("answered 500")]
    """Error of the last failed attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelEvent(EventPayload):
    """An alert channel has failed for an hour, or works again; sent to all other channels."""

    channel: EventChannel
    """The channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventWindow:
    """The maintenance window of an event."""

    id: Annotated[str, Identifier("mw")]
    """Id of the window."""
    name: Annotated[str, Example("Database upgrade")]
    """Name of the window."""
    description: Annotated[str, Example("")]
    """Human-readable description."""
    all: bool
    """Whether all monitors of the team are under maintenance."""
    monitors: Sequence[MonitorId]
    """Ids of the monitors under maintenance."""
    tags: Mapping[str, str] | Sequence[str]
    """Tags of the monitors under maintenance."""
    starts_at: datetime
    """Start of the occurrence."""
    ends_at: datetime
    """End of the occurrence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceEvent(EventPayload):
    """A maintenance window started or ended."""

    maintenance_window: EventWindow
    """The window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedChannelPart:
    """The alert channel that is tested."""

    id: ChannelId
    """Id of the channel."""
    name: Annotated[str, Example("ops")]
    """Name of the channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestEvent(EventPayload):
    """The test of an alert channel."""

    message: Annotated[str, Example("This is a test of the alert channel ops. Nothing is wrong.")]
    """Text that identifies it as a test."""
    channel: TestedChannelPart
    """The channel."""
