"""Notifies channels of the end of an outage whose monitor is deleted."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from collector.evaluation import event_writer
from collector.evaluation.storage.locked_monitors import LatestIncident
from collector.events.core import events as payloads
from collector.events.core.kinds import EventKind
from collector.events.core.payloads import MonitorUpEvent
from collector.events.core.subscriptions import is_subscribed
from collector.events.storage import events
from collector.monitors.storage.monitors import Monitor
from collector.notifications.storage import channels, deliveries, monitor_deliveries
from collector.notifications.storage.deliveries import NewDelivery
from collector.platform.storage.db import Tx
from shared import ids


async def notify(tx: Tx, monitor: Monitor, incident: LatestIncident | None, now: datetime) -> None:
    """Notify channels that may have it as down of the end; drop other pending events."""
    stream = monitor.team_id, monitor.id
    await monitor_deliveries.take(tx, *stream)
    listeners = await channels.listeners(tx, [monitor.team_id])
    notified = await monitor_deliveries.hold_it_down(tx, *stream)
    await monitor_deliveries.drop(tx, monitor.team_id, [monitor.id])
    if incident is None or not (notified or monitor.told):
        return
    await events.append(
        tx, *stream, EventKind.MONITOR_UP, _recovery(monitor, incident, now), now, incident.id
    )
    last = await monitor_deliveries.take(tx, *stream)
    owed = [
        channel
        for channel in listeners
        if channel.id in notified
        and is_subscribed(channel.events, channel.monitors, EventKind.MONITOR_UP, ids.show("mon", monitor.id))
    ]
    if last and owed:
        await deliveries.insert(
            tx,
            [
                NewDelivery(
                    monitor.team_id,
                    ids.uuid7(),
                    channel.id,
                    monitor.id,
                    last.sequence,
                    last.id,
                    EventKind.MONITOR_UP,
                )
                for channel in owed
            ],
        )


async def owed_an_end(tx: Tx, team_id: int, ids_: Sequence[UUID]) -> set[UUID]:
    """Return those of the monitors that some channel may have as down; block routers from all of them."""
    await monitor_deliveries.take_all(tx, team_id, ids_)
    return await monitor_deliveries.held_down(tx, team_id, ids_)


async def forget(tx: Tx, team_id: int, ids_: Sequence[UUID]) -> None:
    """Drop the pending deliveries of monitors that are not `owed_an_end`."""
    await monitor_deliveries.drop(tx, team_id, ids_)


def _recovery(monitor: Monitor, incident: LatestIncident, now: datetime) -> MonitorUpEvent:
    return payloads.up(
        event_writer.of_row(monitor, "deleted"),
        incident_id=incident.id,
        severity=incident.severity,
        downtime_s=incident.downtime_s(now),
        now=now,
    )
