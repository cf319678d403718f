"""Records in the timelines of incidents that their snoozes are over."""

from typing import Final

from collector.events.core.timeline import TimelineType
from collector.events.storage import timeline
from collector.events.storage.timeline import NewTimelineEntry
from collector.incidents.storage import writes
from collector.platform.storage.db import Db
from shared.clock import UtcClock

_AT_ONCE: Final = 100
_DETAILS: Final = "Its time was over: reminders and escalation go on"


class Snoozes:
    """Ends snoozes whose time has come. Any number may run."""

    def __init__(self, db: Db, *, now: UtcClock) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        async with self._db.transaction() as tx:
            ended = await writes.end_snoozes(tx, self._now(), _AT_ONCE)
            for snooze in ended:
                entry = NewTimelineEntry(snooze.team_id, snooze.id, TimelineType.SNOOZE_ENDED, _DETAILS)
                await timeline.add(tx, [entry], snooze.ended_at)
        return len(ended) == _AT_ONCE
