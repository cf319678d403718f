"""Turns what was decided about a monitor into the event that tells it."""

from datetime import datetime

from collector.core import events as payloads
from collector.core.incident import Tell
from collector.storage.events import Event
from collector.storage.judged import Incident, Judged


def event(
    judged: Judged,
    tell: Tell,
    incident: Incident,
    *,
    failures: int,
    error: str,
    until: datetime,
    now: datetime,
) -> Event:
    """monitor.down or monitor.up of this incident; *until* is where its downtime ends."""
    going_down = tell is Tell.DOWN
    monitor = payloads.monitor_part(
        id_=judged.id,
        name=judged.name,
        type_=judged.type,
        url=judged.url if judged.type == "http" else None,
        status="down" if going_down else "up",
    )
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
    return Event(judged.team_id, judged.id, payload["event"], payload, incident.id)
