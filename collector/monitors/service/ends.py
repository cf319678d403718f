"""Deletes a monitor: those who were notified of its outage are notified of its end."""

from datetime import datetime
from uuid import UUID

from collector.alerts.service import alerts
from collector.alerts.storage import rules
from collector.evaluation import event_writer
from collector.evaluation.storage.locked_monitors import LatestIncident
from collector.events.core import events as payloads
from collector.events.core.subscriptions import is_subscribed
from collector.events.storage import events, timeline
from collector.events.storage.events import Event
from collector.history.storage import deleted
from collector.incidents.storage import incidents, monitor_incidents
from collector.monitors.service.monitors import record
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.notifications.storage import channels, deliveries
from collector.notifications.storage import monitor_deliveries as news
from collector.notifications.storage.deliveries import New
from collector.platform.access import Actor
from collector.platform.revision import require
from collector.platform.signals import Signals
from collector.platform.storage.db import Db, Tx
from collector.platform.storage.give_way import giving_way
from collector.probes.service import assignments
from shared import ids
from shared.errors import NotFound

_DELETED = "deleted"


async def delete(
    db: Db,
    signals: Signals,
    team_id: int,
    id_: UUID,
    now: datetime,
    *,
    only: frozenset[str] | None = None,
    who: Actor | None = None,
    later: list[int] | None = None,
) -> None:
    """Delete a monitor; its results, which may be many, are deleted after the commit.

    *only*: the revisions that may be deleted; *who* None is the service itself. *later*: collects its number
    for the owner of an outer transaction, who then deletes the results.
    Raises NotFound, PreconditionFailed.
    """

    async def work(tx: Tx) -> int:
        monitor = await table.lock(tx, team_id, id_)
        if monitor is None:
            raise NotFound("Monitor not found")
        require(monitor.revision, only)
        incident = await _end_incident(tx, monitor, now)
        await table.delete(tx, team_id, id_)
        await rules.drop_monitor(tx, team_id, id_)
        await assignments.place(tx, monitor.monitor, monitor.revision + 1, [], now=now)
        await record(tx, who, "delete", monitor)
        # Last, as in the writer: appending takes the team's next position, for which others wait.
        await _tell(tx, monitor, incident, now)
        over = [*await alerts.end_with(tx, monitor, now), *await _resolved(tx, monitor, incident, now)]
        await events.append_all(tx, [*over, event_writer.change(payloads.DELETED, monitor, now)], now)
        return monitor.monitor

    number = await giving_way(db, work)
    signals.ring()
    if later is None:
        async with db.transaction() as tx:
            await deleted.forget(tx, [number])
    else:
        later.append(number)


async def _tell(tx: Tx, monitor: Monitor, incident: LatestIncident | None, now: datetime) -> None:
    """Notify channels that may have it as down of the end; drop other pending events."""
    stream = monitor.team_id, monitor.id
    await news.take(tx, *stream)
    listeners = await channels.listeners(tx, [monitor.team_id])
    notified = await news.hold_it_down(tx, *stream)
    await news.drop(tx, *stream)
    if incident is None or not (notified or monitor.told):
        return
    await events.append(tx, *stream, payloads.UP, _over(monitor, incident, now), now, incident.id)
    over = await news.take(tx, *stream)
    owed = [
        one
        for one in listeners
        if one.id in notified
        and is_subscribed(one.events, one.monitors, payloads.UP, ids.show("mon", monitor.id))
    ]
    if over and owed:
        await deliveries.insert(
            tx,
            [
                New(monitor.team_id, ids.uuid7(), one.id, monitor.id, over.sequence, over.id, payloads.UP)
                for one in owed
            ],
        )


async def _resolved(tx: Tx, monitor: Monitor, incident: LatestIncident | None, now: datetime) -> list[Event]:
    """Return the event of its open incident's end, if it had one."""
    if incident is None or incident.resolved_at is not None:
        return []
    about = event_writer.of_row(monitor, _DELETED)
    kind = f"{payloads.INCIDENT}.resolved"
    done = event_writer.SystemAction(monitor.team_id, incident.id, kind, monitor.id, about)
    return await event_writer.system_actions(tx, [done], now)


async def _end_incident(tx: Tx, monitor: Monitor, now: datetime) -> LatestIncident | None:
    """Resolve the monitor's open incident as System; return its newest incident, as it was before."""
    if monitor.paused_at is not None:
        await monitor_incidents.leave_out(tx, monitor.team_id, monitor.id, monitor.paused_at, now)
    incident = await monitor_incidents.newest(tx, monitor.team_id, monitor.id)
    if incident and incident.resolved_at is None:
        await incidents.resolve(tx, [(monitor.team_id, incident.id, now)])
        entry = timeline.NewTimelineEntry(
            monitor.team_id, incident.id, "monitor_deleted", f"Monitor {monitor.name} was deleted"
        )
        await timeline.add(tx, [entry], now)
    return incident


def _over(monitor: Monitor, incident: LatestIncident, now: datetime) -> dict[str, object]:
    about = event_writer.of_row(monitor, _DELETED)
    return payloads.up(
        about,
        incident_id=incident.id,
        severity=incident.severity,
        downtime_s=incident.downtime_s(now),
        now=now,
    )
