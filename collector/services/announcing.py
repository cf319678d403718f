"""Turns what was decided about a monitor, or done to it, into the event that tells it."""

from datetime import datetime

from collector.core import events as payloads
from collector.core.incident import Tell
from collector.core.monitor import status
from collector.storage.events import Event
from collector.storage.judged import Incident, Judged
from collector.storage.monitors import Monitor

_DELETED = "deleted"


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


def change(kind: str, monitor: Monitor, now: datetime) -> Event:
    """One of `core.events.CHANGES`; *monitor* is as the change left it, or as it was when it is deleted.

    To be appended as the last deed of the transaction: the team's other events wait for its end.
    """
    shown = status(paused_at=monitor.paused_at, down=monitor.down, last_at=monitor.last_at)
    about = payloads.monitor_part(
        id_=monitor.id,
        name=monitor.name,
        type_=monitor.type,
        url=monitor.config.get("url") if monitor.type == "http" else None,
        status=_DELETED if kind == payloads.DELETED else shown,
    )
    return Event(monitor.team_id, monitor.id, kind, payloads.change(kind, about, now))
