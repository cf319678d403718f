"""Built-in templates: a title for each kind of event, and one body for all."""

from collections.abc import Mapping
from typing import Final

_THRESHOLD: Final = (
    "{% if phase == 'over' %}Recovered{% elif log.removed %}Taken back{% else %}Alert{% endif %}"
    ": {{ source }}, {{ reason }}"
)

TITLES: Final[Mapping[str, str]] = {
    "monitor.down": "Down: {{ monitor.name }}",
    "monitor.up": (
        "{% if monitor.status == 'deleted' %}Deleted while down: {{ monitor.name }}"
        "{% else %}Up: {{ monitor.name }}{% if lasted %}, after {{ lasted }}{% endif %}{% endif %}"
    ),
    "monitor.degraded": (
        "{% if degraded %}Degraded{% else %}No longer degraded{% endif %}: {{ monitor.name }}"
    ),
    "monitor.flapping": (
        "{% if flapping %}Flapping{% else %}No longer flapping{% endif %}: {{ monitor.name }}"
    ),
    "monitor.unmeasured": "Not measured: {{ monitor.name }}",
    "monitor.measured": "Measured again: {{ monitor.name }}",
    "alert.fired": (
        "{% if reason %}Alert: {{ source }}, {{ reason }}{% else %}Down: {{ source }}{% endif %}"
    ),
    "alert.recovered": "Recovered: {{ source }}",
    "alert.escalated": (
        "Escalation {{ alert.escalation }}: {{ source }}{% if reason %}, {{ reason }}{% endif %}"
    ),
    "incident.created": "Incident: {{ incident.title or source }}",
    "incident.acknowledged": "Acknowledged: {{ incident.title or source }}",
    "incident.resolved": (
        "Resolved: {{ incident.title or source }}{% if lasted %}, after {{ lasted }}{% endif %}"
    ),
    "incident.reopened": "Reopened: {{ incident.title or source }}",
    "incident.note_added": "Note: {{ incident.title or source }}",
    "certificate.expiring": "Certificate nears its end: {{ source }}",
    "probe.offline": "Probe offline: {{ source }}",
    "probe.online": "Probe online: {{ source }}",
    "maintenance.started": "Maintenance begins: {{ source }}",
    "maintenance.ended": "Maintenance is over: {{ source }}",
    "channel.failing": "Alert channel fails: {{ source }}",
    "channel.recovered": "Alert channel works again: {{ source }}",
    "web3.gas.alert": _THRESHOLD,
    "web3.alert": _THRESHOLD,
    "web3.event": (
        "{% if log.removed %}Taken back{% else %}Event{% endif %}: {{ source }}, {{ log.name or 'a log' }}"
    ),
    "test": "Test: alert channel {{ source }}",
}
TITLE: Final = "{{ event }}: {{ incident.title or source }}"

BODY: Final = "{{ message or note.text or alert.message or error or incident.description }}"
