"""Tells what a hold kept back when the hold ends and the trouble is still there."""

from collections.abc import Callable
from datetime import datetime

from collector import metrics
from collector.core.incident import Monitor, Tell, announcement
from collector.services import announcing
from collector.storage import events, judged, states
from collector.storage.db import Db
from collector.storage.events import Event
from collector.storage.judged import Judged

_AT_ONCE = 100


class Holds:
    """Any number may run; *tell* is called after a commit that wrote events."""

    def __init__(self, db: Db, *, now: Callable[[], datetime], tell: Callable[[], None]) -> None:
        self._db = db
        self._now = now
        self._tell = tell

    async def turn(self) -> bool:
        now = self._now()
        async with self._db.transaction() as tx:
            waiting = await judged.lock_untold(tx, now, _AT_ONCE)
            if not waiting:
                return False
            fails: dict[int, int] = {}
            for place in await states.of_monitors(tx, [one.monitor for one in waiting]):
                fails[place.monitor] = fails.get(place.monitor, 0) + place.state.fails
            told = [event for one in waiting if (event := _event(one, fails.get(one.monitor, 0), now))]
            if told:
                await events.append_all(tx, told, now)
            await judged.save(tx, [(one, one.down, one.down) for one in waiting], now)
        for event in told:
            metrics.events.labels(event.kind).inc()
        if told:
            self._tell()
        return len(waiting) == _AT_ONCE


def _event(one: Judged, failures: int, now: datetime) -> Event | None:
    """The news of a monitor; None when its incident is over, so that there is nothing to hear of."""
    monitor = Monitor(one.name, one.quorum, one.down, one.told, one.silenced_until)
    tell = announcement(monitor, down=one.down, now=now)
    if tell is Tell.NOTHING or one.incident is None or (tell is Tell.DOWN and one.open_incident is None):
        return None
    return announcing.event(one, tell, one.incident, failures=failures, error="", until=now, now=now)
