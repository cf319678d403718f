"""Reads alerts; acknowledges and resolves those without an incident."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from collector.alerts.core.status import AlertStatus
from collector.alerts.service import notices
from collector.alerts.storage import alerts as table
from collector.alerts.storage import rules
from collector.alerts.storage.alerts import Alert, AlertFilter
from collector.evaluation import event_writer
from collector.evaluation.storage import states
from collector.evaluation.storage.states import StateAtLocation
from collector.events.core.kinds import EventKind
from collector.events.core.payloads import ShownStatus
from collector.events.storage import events
from collector.events.storage.events import Event
from collector.incidents.core.status import IncidentStatus
from collector.incidents.storage import reads
from collector.monitors.storage import monitors
from collector.monitors.storage.monitors import Monitor
from collector.notifications.storage import channels
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.monitor import status as shown_status
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.errors import Conflict, demand_found

WHAT = "Alert"
# Time for the repair to work; after it the rule fires again.
PATIENCE = timedelta(minutes=10)


async def page(db: Db, team_id: int, wanted: AlertFilter, limit: int, offset: int) -> tuple[list[Alert], int]:
    """Return a page of alerts, newest first, and their total number."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id, wanted)
        alerts = await table.newest(tx, team_id, wanted, limit, offset) if offset < total else []
    return alerts, total


async def one(db: Db, team_id: int, id_: UUID) -> Alert:
    """Return an alert. Raises NotFound."""
    async with db.connection() as tx:
        return demand_found(await table.get(tx, team_id, id_), WHAT)


async def acknowledge(db: Db, who: Actor, id_: UUID, now: datetime) -> Alert:
    """Stop reminders and escalation. Raises NotFound; Conflict unless it fires without an incident."""
    async with db.transaction() as tx:
        alert = await _free(tx, who.team_id, id_)
        if alert.status != AlertStatus.FIRING:
            raise Conflict(f"The alert is already {alert.status}")
        after = replace(
            alert, status=AlertStatus.ACKNOWLEDGED, acknowledged_at=now, acknowledged_by=who.shown
        )
        # Its condition is evaluated as before.
        await table.save(tx, [replace(after, due_at=now)])
        await _record(tx, who, "acknowledge", after)
    return after


async def resolve(db: Db, who: Actor, id_: UUID, now: datetime) -> Alert:
    """End the alert and notify whoever was notified of it. Raises NotFound; Conflict as `acknowledge`.

    While its condition holds without a break, the rule does not fire again before PATIENCE is over.
    """
    async with db.transaction() as tx:
        alert = await _free(tx, who.team_id, id_)
        if alert.status == AlertStatus.RECOVERED:
            raise Conflict("The alert is already recovered")
        until = now + PATIENCE
        after = replace(
            alert,
            status=AlertStatus.RECOVERED,
            recovered_at=now,
            recovered_by=who.shown,
            muted_until=until,
            due_at=until,
        )
        await table.save(tx, [after])
        await _record(tx, who, "resolve", after)
        # Last: appending takes the team's next position, for which the team's other transactions wait.
        if over := await _over(tx, after, now):
            await events.append_all(tx, [over], now)
    return after


async def end_with(tx: Tx, monitor: Monitor, now: datetime) -> list[Event]:
    """End the alerts of a monitor that is being deleted; return their events."""
    alerts = await table.of_monitors(tx, [(monitor.team_id, monitor.id)])
    announced = []
    for alert in alerts:
        if alert.status == AlertStatus.RECOVERED:
            await table.save(tx, [replace(alert, due_at=None)])
            continue
        after = replace(alert, status=AlertStatus.RECOVERED, recovered_at=now, due_at=None)
        await table.save(tx, [after])
        announced += [event] if (event := await _recovered(tx, after, monitor, "deleted", [], now)) else []
    return announced


async def _over(tx: Tx, alert: Alert, now: datetime) -> Event | None:
    monitor = await monitors.get(tx, alert.team_id, alert.monitor_id)
    if monitor is None:
        return None
    standing = shown_status(paused_at=monitor.paused_at, down=monitor.down, last_at=monitor.last_at)
    places = await states.of_monitors(tx, [monitor.monitor])
    return await _recovered(tx, alert, monitor, standing, places, now)


async def _recovered(
    tx: Tx,
    alert: Alert,
    monitor: Monitor,
    standing: ShownStatus,
    places: Sequence[StateAtLocation],
    now: datetime,
) -> Event | None:
    """Build the event of the alert's end; None if its firing was never notified."""
    if alert.notified_at is None:
        return None
    rule = await rules.get(tx, alert.team_id, alert.rule_id)
    quiet = rule is not None and not rule.notify_on_recovery
    known = {addressee.id: addressee for addressee in await channels.addressees(tx, [alert.team_id])}
    kind = EventKind.ALERT_RECOVERED
    wanted = notices.addressed(() if quiet else alert.told, known, kind, alert.monitor_id)
    about = event_writer.of_row(monitor, standing)
    incident = await table.told_incident(tx, alert)
    return notices.event(kind, alert, about, monitor.severity, incident, places, wanted, now)


async def _free(tx: Tx, team_id: int, id_: UUID) -> Alert:
    """Lock and return the alert. Raises Conflict while its incident is open."""
    alert = demand_found(await table.lock(tx, team_id, id_), WHAT)
    if alert.incident_id is None or alert.status == AlertStatus.RECOVERED:
        return alert
    incident = await reads.one(tx, team_id, alert.incident_id)
    if incident is not None and incident.status is not IncidentStatus.RESOLVED:
        shown = ids.show("inc", incident.id)
        raise Conflict(f"The alert belongs to the incident {shown}: acknowledge or resolve that")
    return alert


async def _record(tx: Tx, who: Actor, action: str, alert: Alert) -> None:
    await audit.record(tx, who, action, "alert", ids.show("alert", alert.id), name=alert.rule_name)
