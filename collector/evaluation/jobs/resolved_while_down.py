"""Reopens incidents that somebody resolved while their monitors stay down."""

from dataclasses import replace
from datetime import datetime

from collector.evaluation import event_writer
from collector.evaluation.core.decision import standing
from collector.evaluation.core.holds import REOPENED_AFTER, Hold, allowed, holding
from collector.evaluation.storage import locked_monitors, resolved_while_down
from collector.evaluation.storage.locked_monitors import LatestIncident, LockedMonitor
from collector.evaluation.suppression import SuppressionContext, as_decided, surroundings
from collector.events.core.kinds import EventKind
from collector.events.core.timeline import TimelineType
from collector.events.storage import events, timeline
from collector.events.storage.timeline import NewTimelineEntry
from collector.incidents.storage import incidents
from collector.platform.clock import Clock
from collector.platform.storage.db import Db, Tx

_AT_ONCE = 100
_KIND = EventKind.INCIDENT_REOPENED
_WHY = "Still down 10 minutes after it was resolved"


class IncidentReopener:
    """Any number may run. The job that announces held outages announces these too."""

    def __init__(self, db: Db, *, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def turn(self) -> bool:
        now = self._clock.now()
        async with self._db.connection() as tx:
            found = await resolved_while_down.still_down(tx, now - REOPENED_AFTER, _AT_ONCE)
        if not found:
            return False
        async with self._db.transaction() as tx:
            locked = await locked_monitors.lock(tx, found)
            held = await surroundings(tx, locked, {}, now)
            again = [
                (monitor, ended)
                for monitor in locked
                if (ended := _ended_by_hand(monitor, now)) and _may_open(monitor, held[monitor.monitor], now)
            ]
            if again:
                await _reopen(tx, again, now)
        return len(again) == _AT_ONCE


async def _reopen(tx: Tx, again: list[tuple[LockedMonitor, LatestIncident]], now: datetime) -> None:
    await incidents.reopen(tx, [(monitor.team_id, ended.id, now) for monitor, ended in again], now)
    await timeline.add(
        tx,
        [
            NewTimelineEntry(monitor.team_id, ended.id, TimelineType.REOPENED, _WHY)
            for monitor, ended in again
        ],
        now,
    )
    await locked_monitors.save(tx, [replace(monitor, reannounce=True) for monitor, _ in again], now)
    done = [
        event_writer.SystemAction(
            monitor.team_id, ended.id, _KIND, monitor.id, event_writer.about(monitor, down=True)
        )
        for monitor, ended in again
    ]
    await events.append_all(tx, await event_writer.system_actions(tx, done, now), now)


def _ended_by_hand(monitor: LockedMonitor, now: datetime) -> LatestIncident | None:
    """Return its incident, if nothing has changed since it was found."""
    incident = monitor.incident
    if not monitor.by_hand or incident is None or incident.resolved_at is None:
        return None
    return incident if incident.resolved_at <= now - REOPENED_AFTER else None


def _may_open(monitor: LockedMonitor, about: SuppressionContext, now: datetime) -> bool:
    """Whether an incident may open but for the user's resolve."""
    rest = replace(standing(as_decided(monitor, about)), by_hand=False, votes=True, measured=True)
    return allowed(hold for hold in holding(rest, now) if hold is not Hold.RESOLVED_BY_HAND).opens
