"""Announces the start and the end of each maintenance window, once each."""

from datetime import datetime, timedelta
from typing import Any, Final

from collector.events.core import events as payloads
from collector.events.core.kinds import EventKind
from collector.events.storage import events
from collector.events.storage.events import Event
from collector.maintenance.storage import news as table
from collector.maintenance.storage.news import Begun, EndedWindow
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.clock import UtcClock, iso

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
        _event(window, EventKind.MAINTENANCE_ENDED, {**window.shown, "endsAt": iso(window.ended_at)}, now)
        for window in await table.over(tx, now, _AT_ONCE)
    ]


def _event(one: Begun | EndedWindow, kind: EventKind, shown: dict[str, Any], now: datetime) -> Event:
    return Event(one.team_id, one.window_id, kind, payloads.maintenance(kind, shown, now=now))


def _shown(one: Begun) -> dict[str, Any]:
    return {
        "id": ids.show("mw", one.window_id),
        "name": one.name,
        "description": one.description,
        "all": one.every,
        "monitors": [ids.show("mon", id_) for id_ in one.monitors],
        "tags": one.tags,
        "startsAt": iso(one.starts_at),
        "endsAt": iso(one.ends_at),
    }
