"""Announces an outage that a hold suppressed, when the hold ends and the outage lasts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from collector.evaluation import event_writer
from collector.evaluation.core.decision import DEGRADED_AFTER, Announcement, announcement, standing
from collector.evaluation.core.holds import AllowedEffects, Hold, allowed, holding
from collector.evaluation.storage import locked_monitors, states
from collector.evaluation.storage.locked_monitors import LockedMonitor
from collector.evaluation.storage.states import StateAtLocation
from collector.evaluation.suppression import SuppressionContext, as_decided, surroundings
from collector.events.storage import events, timeline
from collector.events.storage.events import Event
from collector.incidents.storage import incidents
from collector.platform.clock import Clock
from collector.platform.storage.db import Db, Tx

_AT_ONCE = 100


@dataclass(slots=True)
class HoldChanges:
    """The changes to write: monitors after them, events, and incidents to link to those of parents."""

    monitors: list[LockedMonitor] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    linked: list[tuple[LockedMonitor, SuppressionContext]] = field(default_factory=list)

    @property
    def concerned(self) -> list[int]:
        return sorted({monitor.monitor for monitor in (*self.monitors, *(one for one, _ in self.linked))})


class Holds:
    """Any number may run."""

    def __init__(self, db: Db, *, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._after = 0

    async def turn(self) -> bool:
        """Process the next monitors with something unannounced: many may be suppressed for long."""
        now = self._clock.now()
        async with self._db.connection() as tx:
            monitors = await locked_monitors.unannounced(tx, self._after, now - DEGRADED_AFTER, now, _AT_ONCE)
            concerned = (await _news(tx, monitors, now)).concerned if monitors else []
        more = len(monitors) == _AT_ONCE
        self._after = monitors[-1].monitor if more else 0
        if concerned:
            await self._write(concerned, now)
        return more

    async def _write(self, concerned: Sequence[int], now: datetime) -> None:
        """Evaluate these monitors again under lock: another collector may have announced it meanwhile."""
        async with self._db.transaction() as tx:
            news = await _news(tx, await locked_monitors.lock(tx, concerned), now)
            if news.linked:
                await _link(tx, news.linked, now)
            if news.monitors:
                await locked_monitors.save(tx, news.monitors, now)
            if news.events:
                await events.append_all(tx, news.events, now)


async def _news(tx: Tx, monitors: Sequence[LockedMonitor], now: datetime) -> HoldChanges:
    """Return the changes that no hold suppresses any more."""
    places = states.by_monitor(await states.of_monitors(tx, [locked.monitor for locked in monitors]))
    held = await surroundings(tx, monitors, places, now)
    news = HoldChanges()
    for locked in monitors:
        here, about = places[locked.monitor], held[locked.monitor]
        announced, after = _state_news(locked, about, here, now)
        noticed, after = _notices(after, about, here, now)
        news.events += [*announced, *noticed]
        if after != locked:
            news.monitors.append(after)
        if _unlinked(locked, about):
            news.linked.append((locked, about))
    return news


def _state_news(
    locked: LockedMonitor, about: SuppressionContext, places: Sequence[StateAtLocation], now: datetime
) -> tuple[list[Event], LockedMonitor]:
    """Return monitor.down or monitor.up, if due; for an incident that a user resolved neither is."""
    due = announcement(as_decided(locked, about), down=locked.down, now=now)
    if due is Announcement.NOTHING or (due is Announcement.DOWN and locked.open_incident is None):
        return [], locked
    down = due is Announcement.DOWN
    after = replace(
        locked, announced=down, reannounce=False, degraded_announced=locked.degraded_announced and not down
    )
    if locked.incident is None:
        return [], after
    failures = sum(place.state.fails for place in places)
    event = event_writer.event(locked, due, locked.incident, failures=failures, error="", until=now, now=now)
    return [event], after


def _notices(
    locked: LockedMonitor, about: SuppressionContext, places: Sequence[StateAtLocation], now: datetime
) -> tuple[list[Event], LockedMonitor]:
    """Return monitor.degraded and monitor.flapping, at their beginning and end, if due."""
    held = holding(standing(as_decided(locked, about)), now)
    noticed = []
    degraded = locked.degraded_since is not None and now - locked.degraded_since >= DEGRADED_AFTER
    if not locked.down and _due(degraded, locked.degraded_announced, allowed(held)):
        noticed.append(event_writer.degraded(locked, places, begins=degraded, now=now))
        locked = replace(locked, degraded_announced=degraded)
    flapping = locked.flapping_since is not None
    # Flapping must not suppress its own announcement.
    if _due(flapping, locked.flapping_announced, allowed(hold for hold in held if hold is not Hold.FLAPPING)):
        noticed.append(event_writer.flapping(locked, places, begins=flapping, now=now))
        locked = replace(locked, flapping_announced=flapping)
    return noticed, locked


def _due(is_so: bool, announced: bool, free: AllowedEffects) -> bool:
    return is_so != announced and (free.openings if is_so else free.recovery)


def _unlinked(locked: LockedMonitor, about: SuppressionContext) -> bool:
    """Whether its parent was found down only after its own incident had opened."""
    incident, parent = locked.open_incident, about.parent
    if incident is None or parent is None or parent.incident_id is None or locked.announced:
        return False
    return incident.parent_incident_id is None


async def _link(tx: Tx, linked: Sequence[tuple[LockedMonitor, SuppressionContext]], now: datetime) -> None:
    pairs = [
        (monitor.team_id, monitor.open_incident.id, about.parent)
        for monitor, about in linked
        if monitor.open_incident is not None and about.parent is not None
    ]
    await incidents.link(
        tx, [(team, id_, parent.incident_id) for team, id_, parent in pairs if parent.incident_id]
    )
    entries = [event_writer.held_by_parent(team, id_, parent.name) for team, id_, parent in pairs]
    await timeline.add(tx, entries, now)
