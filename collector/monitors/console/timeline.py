"""What happened to a monitor and who was notified, as one timeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from collector.events.core.kinds import EventKind
from collector.incidents.storage.reads import Incident
from collector.monitors.api.explain_views import ExplainedDelivery, ExplainedMonitor
from shared import ids

_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    EventKind.MONITOR_DOWN: ("bad", "Went down"),
    EventKind.MONITOR_UP: ("good", "Came back up"),
    EventKind.MONITOR_DEGRADED: ("warn", "Degraded"),
    EventKind.MONITOR_FLAPPING: ("warn", "Flapping"),
    EventKind.MONITOR_UNMEASURED: ("warn", "No longer measured"),
    EventKind.MONITOR_MEASURED: ("good", "Measured again"),
    EventKind.MONITOR_PAUSED: ("off", "Paused"),
    EventKind.MONITOR_RESUMED: ("good", "Resumed"),
    EventKind.ALERT_FIRED: ("bad", "Alert fired"),
    EventKind.ALERT_ESCALATED: ("bad", "Alert escalated"),
    EventKind.ALERT_RECOVERED: ("good", "Alert recovered"),
    EventKind.CERTIFICATE_EXPIRING: ("warn", "Certificate expires soon"),
    EventKind.MAINTENANCE_STARTED: ("info", "Maintenance started"),
    EventKind.MAINTENANCE_ENDED: ("info", "Maintenance ended"),
    EventKind.WEB3_GAS: ("warn", "Gas price alert"),
    EventKind.WEB3_ALERT: ("warn", "Web3 alert"),
    EventKind.WEB3_EVENT: ("info", "Web3 event"),
    "incident.created": ("bad", "Incident created"),
    "incident.acknowledged": ("warn", "Incident acknowledged"),
    "incident.resolved": ("good", "Incident resolved"),
    "incident.reopened": ("bad", "Incident reopened"),
    "incident.updated": ("info", "Incident updated"),
}
_SHOWN: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorTimelineEntry:
    """*tone* is its class in the stylesheet; *link* and *text* are of an incident, else empty."""

    at: datetime
    tone: str
    title: str
    link: str = ""
    text: str = ""
    deliveries: Sequence[ExplainedDelivery] = ()


def of(why: ExplainedMonitor, incidents: Sequence[Incident]) -> list[MonitorTimelineEntry]:
    """Return the newest events with their deliveries, and the incidents, newest first."""
    happened = [
        MonitorTimelineEntry(at=each.at, tone=tone, title=title, deliveries=each.deliveries)
        for each in why.told
        for tone, title in (_words(each.event),)
    ]
    entries = [*happened, *(entry for each in incidents for entry in _of_incident(each))]
    return sorted(entries, key=lambda entry: entry.at, reverse=True)[:_SHOWN]


def _words(kind: str) -> tuple[str, str]:
    return _WORDS.get(kind) or ("info", kind.replace(".", " ").replace("_", " ").capitalize())


def _of_incident(incident: Incident) -> list[MonitorTimelineEntry]:
    link = f"/incidents/{ids.show('inc', incident.id)}"
    started = MonitorTimelineEntry(
        at=incident.started_at, tone="bad", title=incident.title, link=link, text=incident.last_error or ""
    )
    if incident.resolved_at is None:
        return [started]
    resolved = MonitorTimelineEntry(
        at=incident.resolved_at,
        tone="good",
        title=f"Resolved: {incident.title}",
        link=link,
        text=incident.resolution_note or "",
    )
    return [resolved, started]
