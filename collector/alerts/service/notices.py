"""Creates the event of an alert's change, and selects the channels that receive it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from collector.alerts.core.conditions import CONSECUTIVE, DOWN, of_web3, plain
from collector.alerts.core.rule_fields import Conditions
from collector.alerts.storage.alerts import Alert
from collector.evaluation.event_writer import located
from collector.evaluation.storage.locked_monitors import LatestIncident
from collector.evaluation.storage.states import StateAtLocation
from collector.events.core.kinds import EventKind
from collector.events.core.payloads import AlertEvent, AlertIncident, EventAlert, EventMonitor
from collector.events.core.subscriptions import is_subscribed
from collector.events.storage.events import Event
from collector.notifications.storage.channels import Addressee
from collector.platform.monitor import Severity
from shared import ids


def is_told_anyway(alert: Alert, conditions: Conditions) -> bool:
    """Whether webhook channels receive its cause without any rule: a change of state, or a Web3 finding."""
    if alert.reason == DOWN or of_web3(alert.reason):
        return True
    return alert.reason == CONSECUTIVE and (conditions.latency_threshold_ms, conditions.status_code) == (
        None,
        None,
    )


def addressed(
    wanted: Iterable[UUID],
    channels: Mapping[UUID, Addressee],
    kind: EventKind,
    monitor_id: UUID,
    *,
    webhooks: bool = True,
) -> list[UUID]:
    """Return the *wanted* channels that are enabled and, if webhooks, subscribed to this event."""
    shown = ids.show("mon", monitor_id)
    return [
        id_
        for id_ in dict.fromkeys(wanted)
        if (addressee := channels.get(id_)) is not None
        and (
            addressee.type != "webhook"
            or (webhooks and is_subscribed(addressee.events or [kind], addressee.monitors, kind, shown))
        )
    ]


def event(
    kind: EventKind,
    alert: Alert,
    monitor: EventMonitor,
    severity: Severity,
    incident: LatestIncident | None,
    places: Sequence[StateAtLocation],
    channels: Sequence[UUID],
    now: datetime,
    *,
    message: str = "",
) -> Event:
    """Build the event; *severity*: the monitor's; *incident*: named in the first notice; *message*: why."""
    payload = AlertEvent(
        event=kind,
        timestamp=now,
        monitor=monitor,
        alert=EventAlert(
            id=ids.show("alert", alert.id),
            rule_id=ids.show("rule", alert.rule_id),
            rule_name=alert.rule_name,
            reason=alert.reason,
            value=plain(alert.value),
            threshold=plain(alert.threshold),
            fired_at=alert.fired_at,
            escalation=alert.escalations,
            severity=incident.severity if incident else severity,
            message=message or None,
        ),
        incident=_incident(incident, now),
        location_states=[
            located(place, bad=place.state.failing or place.state.fails > 0) for place in places
        ],
    )
    return Event(
        alert.team_id, alert.monitor_id, kind, payload, incident.id if incident else None, tuple(channels)
    )


def _incident(incident: LatestIncident | None, now: datetime) -> AlertIncident | None:
    if incident is None:
        return None
    return AlertIncident(
        id=ids.show("inc", incident.id),
        severity=incident.severity,
        started_at=incident.started_at,
        last_error=incident.last_error,
        downtime=incident.downtime_s(now),
    )
