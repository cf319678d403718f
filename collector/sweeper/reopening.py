"""Opens an incident again that somebody resolved while its monitor was, and still is, down."""

from collections.abc import Callable
from datetime import datetime, timedelta

from collector.storage import incidents, judged, reopening, timeline
from collector.storage.db import Db
from collector.storage.judged import Incident, Judged
from collector.storage.timeline import Entry

# Time for what was done about it to work.
PATIENCE = timedelta(minutes=10)
_AT_ONCE = 100
_WHY = "Still down 10 minutes after it was resolved"


class Reopening:
    """Any number may run."""

    def __init__(self, db: Db, *, now: Callable[[], datetime]) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        now = self._now()
        async with self._db.transaction() as tx:
            found = await reopening.still_down(tx, now - PATIENCE, _AT_ONCE)
            again = [
                (one, ended) for one in await judged.lock(tx, found) if (ended := _ended_by_hand(one, now))
            ]
            if not again:
                return False
            await incidents.reopen(tx, [(one.team_id, ended.id, now) for one, ended in again], now)
            entries = [Entry(one.team_id, ended.id, "reopened", _WHY) for one, ended in again]
            await timeline.add(tx, entries, now)
            # Whoever tells what a hold kept back tells this too.
            await judged.save(tx, [(one, True, False) for one, _ in again if not _silenced(one, now)], now)
        return len(again) == _AT_ONCE


def _ended_by_hand(one: Judged, now: datetime) -> Incident | None:
    """Its incident, if all is still as it was when it was found."""
    incident = one.incident
    if not one.down or incident is None or incident.resolved_at is None or incident.resolved_by is None:
        return None
    by_hand = incident.resolved_by.get("id") is not None
    return incident if by_hand and incident.resolved_at <= now - PATIENCE else None


def _silenced(one: Judged, now: datetime) -> bool:
    return one.silenced_until is not None and one.silenced_until > now
