"""When some collector ran is known afterwards, over restarts, several collectors and clocks that are set."""

from datetime import UTC, datetime, timedelta

from collector.evaluation.jobs.collector_presence import CollectorPresence
from collector.evaluation.storage import collector_presence
from collector.platform.deadlines import unheard
from collector.platform.storage.db import Db
from tests.clocks import GivenClock

T0 = datetime(2026, 11, 21, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Collector:
    """One that was started at a minute, and takes turns."""

    def __init__(self, db: Db, start: int) -> None:
        self.start: int | None = start
        self.now: float = start
        self._listening = CollectorPresence(db, clock=GivenClock(lambda: T0 + self.now * MINUTE, self._since))

    async def run(self, until: int) -> None:
        while self.now < until:
            await self._listening.turn()
            self.now += 0.25
        await self._listening.turn()

    def _since(self) -> datetime | None:
        return None if self.start is None else T0 + self.start * MINUTE


async def gaps(db: Db, until: int) -> list[tuple[int, int]]:
    async with db.connection() as tx:
        heard = await collector_presence.between(tx, T0, T0 + until * MINUTE)
    deaf = unheard(heard, T0, T0 + until * MINUTE)
    return [((start - T0) // MINUTE, (end - T0) // MINUTE) for start, end in deaf]


async def test_the_time_between_two_starts_was_heard_by_nobody(db: Db) -> None:
    await Collector(db, 0).run(10)
    await Collector(db, 15).run(20)
    assert await gaps(db, 30) == [(10, 15), (20, 30)]


async def test_one_of_two_collectors_is_enough(db: Db) -> None:
    await Collector(db, 0).run(10)
    await Collector(db, 5).run(30)
    assert await gaps(db, 30) == []


async def test_a_clock_that_was_set_neither_adds_nor_takes_what_was_heard(db: Db) -> None:
    collector = Collector(db, 0)
    await collector.run(10)
    collector.start = None
    collector.now = 100
    await collector.run(101)
    collector.start = 101
    await collector.run(110)
    assert await gaps(db, 110) == [(10, 101)]


async def test_while_the_database_was_away_nobody_was_heard(db: Db) -> None:
    collector = Collector(db, 0)
    await collector.run(10)
    collector.now = 17
    await collector.run(20)
    assert await gaps(db, 20) == [(10, 17)]
