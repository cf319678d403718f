"""Built-in templates: a title for each kind of event, and one body for all."""

from collections.abc import Mapping
from typing import Final

from collector.events.core.kinds import EventKind

_THRESHOLD: Final = (
    "{% if phase == 'over' %}Recovered{% elif log.removed %}Taken back{% else %}Alert{% endif %}"
    ": {{ source }}, {{ reason }}"
)

TITLES: Final[Mapping[str, str]] = {
    EventKind.MONITOR_DOWN: "Down: {{ monitor.name }}",
    EventKind.MONITOR_UP: (
        "{% if monitor.status == 'deleted' %}Deleted while down: {{ monitor.name }}"
        "{% else %}Up: {{ monitor.name }}{% if lasted %}, after {{ lasted }}{% endif %}{% endif %}"
    ),
    EventKind.MONITOR_DEGRADED: (
        "{% if degraded %}Degraded{% else %}No longer degraded{% endif %}: {{ monitor.name }}"
    ),
    EventKind.MONITOR_FLAPPING: (
        "{% if flapping %}Flapping{% else %}No longer flapping{% endif %}: {{ monitor.name }}"
    ),
    EventKind.MONITOR_UNMEASURED: "Not measured: {{ monitor.name }}",
    EventKind.MONITOR_MEASURED: "Measured again: {{ monitor.name }}",
    EventKind.ALERT_FIRED: (
        "{% if reason %}Alert: {{ source }}, {{ reason }}{% else %}Down: {{ source }}{% endif %}"
    ),
    EventKind.ALERT_RECOVERED: "Recovered: {{ source }}",
    EventKind.ALERT_ESCALATED: (
        "Escalation {{ alert.escalation }}: {{ source }}{% if reason %}, {{ reason }}{% endif %}"
    ),
    EventKind.INCIDENT_CREATED: "Incident: {{ incident.title or source }}",
    EventKind.INCIDENT_ACKNOWLEDGED: "Acknowledged: {{ incident.title or source }}",
    EventKind.INCIDENT_RESOLVED: (
        "Resolved: {{ incident.title or source }}{% if lasted %}, after {{ lasted }}{% endif %}"
    ),
    EventKind.INCIDENT_REOPENED: "Reopened: {{ incident.title or source }}",
    EventKind.INCIDENT_NOTE_ADDED: "Note: {{ incident.title or source }}",
    EventKind.CERTIFICATE_EXPIRING: "Certificate nears its end: {{ source }}",
    EventKind.PROBE_OFFLINE: "Probe offline: {{ source }}",
    EventKind.PROBE_ONLINE: "Probe online: {{ source }}",
    EventKind.MAINTENANCE_STARTED: "Maintenance begins: {{ source }}",
    EventKind.MAINTENANCE_ENDED: "Maintenance is over: {{ source }}",
    EventKind.CHANNEL_FAILING: "Alert channel fails: {{ source }}",
    EventKind.CHANNEL_RECOVERED: "Alert channel works again: {{ source }}",
    EventKind.WEB3_GAS: _THRESHOLD,
    EventKind.WEB3_ALERT: _THRESHOLD,
    EventKind.WEB3_EVENT: (
        "{% if log.removed %}Taken back{% else %}Event{% endif %}: {{ source }}, {{ log.name or 'a log' }}"
    ),
    "test": "Test: alert channel {{ source }}",
}
TITLE: Final = "{{ event }}: {{ incident.title or source }}"

BODY: Final = "{{ message or note.text or alert.message or error or incident.description }}"
