"""Kinds of events, and which of them channels receive."""

from enum import StrEnum


class EventKind(StrEnum):
    """What happened, as ``event`` names it."""

    MONITOR_DOWN = "monitor.down"
    MONITOR_UP = "monitor.up"
    MONITOR_CREATED = "monitor.created"
    MONITOR_UPDATED = "monitor.updated"
    MONITOR_PAUSED = "monitor.paused"
    MONITOR_RESUMED = "monitor.resumed"
    MONITOR_DELETED = "monitor.deleted"
    MONITOR_DEGRADED = "monitor.degraded"
    MONITOR_FLAPPING = "monitor.flapping"
    MONITOR_UNMEASURED = "monitor.unmeasured"
    MONITOR_MEASURED = "monitor.measured"
    INCIDENT_CREATED = "incident.created"
    INCIDENT_ACKNOWLEDGED = "incident.acknowledged"
    INCIDENT_RESOLVED = "incident.resolved"
    INCIDENT_REOPENED = "incident.reopened"
    INCIDENT_NOTE_ADDED = "incident.note_added"
    PROBE_OFFLINE = "probe.offline"
    PROBE_ONLINE = "probe.online"
    CHANNEL_FAILING = "channel.failing"
    CHANNEL_RECOVERED = "channel.recovered"
    ALERT_FIRED = "alert.fired"
    ALERT_RECOVERED = "alert.recovered"
    ALERT_ESCALATED = "alert.escalated"
    CERTIFICATE_EXPIRING = "certificate.expiring"
    MAINTENANCE_STARTED = "maintenance.started"
    MAINTENANCE_ENDED = "maintenance.ended"
    PAGE_PUBLISHED = "status_page.incident.published"
    PAGE_UPDATED = "status_page.incident.updated"
    WEB3_GAS = "web3.gas.alert"
    WEB3_ALERT = "web3.alert"
    WEB3_EVENT = "web3.event"
    TEST = "test"


# Events about an incident itself.
INCIDENTS = frozenset(kind for kind in EventKind if kind.startswith("incident."))
# Only for followers of the stream of events; no channel receives them, whatever its subscription.
CHANGES = frozenset(
    {
        EventKind.MONITOR_CREATED,
        EventKind.MONITOR_UPDATED,
        EventKind.MONITOR_PAUSED,
        EventKind.MONITOR_RESUMED,
        EventKind.MONITOR_DELETED,
    }
)
# Sent to a team's other channels at once, whatever these subscribe to.
_ABOUT_CHANNELS = frozenset({EventKind.CHANNEL_FAILING, EventKind.CHANNEL_RECOVERED})
# The kinds that channels can receive.
DELIVERED = frozenset(EventKind) - CHANGES - _ABOUT_CHANNELS
