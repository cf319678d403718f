"""Deletes a monitor: those who were notified of its outage are notified of its end."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.evaluation import event_writer
from collector.evaluation.storage.locked_monitors import LatestIncident
from collector.events.core.kinds import EventKind
from collector.events.core.timeline import TimelineType
from collector.events.storage import events, timeline
from collector.events.storage.events import Event
from collector.heartbeats.storage import heartbeats
from collector.history.storage import deleted
from collector.incidents.storage import incidents, monitor_incidents
from collector.monitors.service.followers import MonitorFollowers
from collector.monitors.service.monitors import record
from collector.monitors.storage import monitors as table
from collector.monitors.storage.monitors import Monitor
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.revision import require
from collector.platform.signals import Signals
from collector.platform.storage.db import Db, Tx
from collector.platform.storage.give_way import giving_way, patiently
from collector.probes.service import assignments
from collector.probes.storage import plans
from shared import ids
from shared.errors import NotFound

_DELETED: Final = "deleted"


async def delete(
    db: Db,
    signals: Signals,
    followers: MonitorFollowers,
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
        await table.delete(tx, team_id, [id_])
        await followers.release(tx, monitor)
        await assignments.place(tx, monitor.monitor, monitor.revision + 1, [], now=now)
        await record(tx, who, "delete", monitor)
        # Last, as in the writer: appending takes the team's next position, for which others wait.
        ended = await followers.end(tx, monitor, incident, now)
        resolved = await _resolved(tx, monitor, incident, now)
        await events.append_all(
            tx, [*ended, *resolved, event_writer.change(EventKind.MONITOR_DELETED, monitor, now)], now
        )
        return monitor.monitor

    number = await giving_way(db, work)
    signals.ring()
    if later is None:
        async with db.transaction() as tx:
            await deleted.forget(tx, [number])
    else:
        later.append(number)


async def delete_all(
    db: Db, followers: MonitorFollowers, actor: Actor, named: Sequence[UUID], now: datetime
) -> dict[UUID, int]:
    """Delete the monitors of which nobody has to be notified, together; return their numbers by their ids.

    The others are left to `delete`, and so are monitors that do not exist. Results are deleted by the
    caller, after the commit; ring the signals then. Raises Unavailable.
    """

    async def work(tx: Tx) -> dict[UUID, int]:
        team_id = actor.team_id
        # In the order of a writer: heartbeats, states, monitors.
        await patiently(tx, heartbeats.hold_all(tx, team_id, named))
        holders = await patiently(tx, plans.lock_states(tx, team_id, named))
        there = await patiently(tx, table.lock_all(tx, team_id, named))
        busy = await monitor_incidents.unresolved(tx, team_id, named)
        busy |= await followers.concerned(tx, team_id, named)
        quiet = [monitor for monitor in there if monitor.id not in busy and not monitor.told]
        going = [monitor.id for monitor in quiet]
        await table.delete(tx, team_id, going)
        await assignments.drop(tx, [monitor.monitor for monitor in quiet], holders)
        names = {ids.show("mon", monitor.id): monitor.name for monitor in quiet}
        await audit.record_deleted(tx, actor, "monitor", names)
        # Last, as in the writer: appending takes the team's next position, for which others wait.
        await followers.release_all(tx, team_id, going)
        deletions = [event_writer.change(EventKind.MONITOR_DELETED, monitor, now) for monitor in quiet]
        await events.append_all(tx, deletions, now)
        return {monitor.id: monitor.monitor for monitor in quiet}

    return await giving_way(db, work) if named else {}


async def _resolved(tx: Tx, monitor: Monitor, incident: LatestIncident | None, now: datetime) -> list[Event]:
    """Return the event of its open incident's end, if it had one."""
    if incident is None or incident.resolved_at is not None:
        return []
    about = event_writer.of_row(monitor, _DELETED)
    kind = EventKind.INCIDENT_RESOLVED
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
            monitor.team_id, incident.id, TimelineType.MONITOR_DELETED, f"Monitor {monitor.name} was deleted"
        )
        await timeline.add(tx, [entry], now)
    return incident
