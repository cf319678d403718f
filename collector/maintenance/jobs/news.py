"""Announces the start and the end of each maintenance window, once each."""

from datetime import datetime, timedelta
from typing import Final

from collector.events.core.kinds import EventKind
from collector.events.core.payloads import EventWindow, MaintenanceEvent
from collector.events.storage import events
from collector.events.storage.events import Event
from collector.maintenance.storage import news as table
from collector.maintenance.storage.news import EndedWindow, StartedWindow
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.clock import UtcClock

_AT_ONCE: Final = 100
# More than any two collectors' clocks differ.
_KEEP: Final = timedelta(days=1)


class MaintenanceNews:
    """Announces starts and ends of maintenance windows. Any number may run."""

    __slots__ = ("_db", "_now")

    def __init__(self, db: Db, *, now: UtcClock) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        """Announce some. Return whether more are waiting."""
        now = self._now()
        async with self._db.transaction() as tx:
            news = [*await _begun(tx, now), *await _over(tx, now)]
            if news:
                await table.forget(tx, now - _KEEP)
                await events.append_all(tx, news, now)
        return len(news) >= _AT_ONCE


async def _begun(tx: Tx, now: datetime) -> list[Event]:
    found = await table.begun(tx, now, _AT_ONCE)
    shown = [_shown(one) for one in found]
    mine = await table.note(tx, found, shown) if found else set()
    return [
        _event(one, EventKind.MAINTENANCE_STARTED, part, now)
        for one, part in zip(found, shown, strict=True)
        if (one.team_id, one.window_id) in mine
    ]


async def _over(tx: Tx, now: datetime) -> list[Event]:
    return [
        _event(window, EventKind.MAINTENANCE_ENDED, _ended(window), now)
        for window in await table.over(tx, now, _AT_ONCE)
    ]


def _event(window: StartedWindow | EndedWindow, kind: EventKind, shown: EventWindow, now: datetime) -> Event:
    payload = MaintenanceEvent(event=kind, timestamp=now, maintenance_window=shown)
    return Event(window.team_id, window.window_id, kind, payload)


def _shown(window: StartedWindow) -> EventWindow:
    return EventWindow(
        id=ids.show("mw", window.window_id),
        name=window.name,
        description=window.description,
        all=window.every,
        monitors=[ids.show("mon", id_) for id_ in window.monitors],
        tags=window.tags,
        starts_at=window.starts_at,
        ends_at=window.ends_at,
    )


def _ended(window: EndedWindow) -> EventWindow:
    """Return the window as its start was announced, with its actual end."""
    shown = window.shown
    return EventWindow(
        id=shown["id"],
        name=shown["name"],
        description=shown["description"],
        all=shown["all"],
        monitors=shown["monitors"],
        tags=shown["tags"],
        starts_at=datetime.fromisoformat(shown["startsAt"]),
        ends_at=window.ended_at,
    )
