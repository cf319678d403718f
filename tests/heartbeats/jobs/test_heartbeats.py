"""Who is late is found once, whoever looks, and only for silence that somebody listened to."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from collector.evaluation.jobs.collector_presence import CollectorPresence
from collector.heartbeats.core.heartbeat import HeartbeatResult, PingSchedule
from collector.heartbeats.jobs.heartbeats import HeartbeatSweeper
from collector.heartbeats.storage import heartbeats
from collector.heartbeats.storage.heartbeats import SetSchedule
from collector.monitors.service.receivers import key_hash
from collector.platform.storage.db import Db, Tx
from tests.clocks import GivenClock
from tests.evaluation.world import make_world

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
M = timedelta(minutes=1)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


class Found:
    """What was found late."""

    def __init__(self) -> None:
        self.late: list[tuple[int, HeartbeatResult]] = []

    async def store_overdue(self, _: Tx, late: Sequence[tuple[int, HeartbeatResult]]) -> Callable[[], None]:
        return lambda: self.late.extend(late)


async def awaited(db: Db, many: int = 1, wait: timedelta = 10 * M) -> list[int]:
    """Monitors of which a ping is awaited *wait* after noon, with a minute of grace."""
    world = await make_world(db, monitors=many)
    async with db.transaction() as tx:
        for monitor, id_ in world.ids.items():
            plan = PingSchedule(wait, "", "UTC", M)
            await heartbeats.put(
                tx, world.team_id, [SetSchedule(id_, key_hash(str(monitor)), plan, 660, NOON)]
            )
    return world.monitors


def sweeper(db: Db, clock: Clock, found: Found) -> HeartbeatSweeper:
    return HeartbeatSweeper(db, found, clock=GivenClock(clock, lambda: NOON))


async def pass_time(clock: Clock, listening: CollectorPresence, until: datetime) -> None:
    """Somebody listens, and says so as often as a collector does."""
    while clock.now < until:
        clock.now = min(clock.now + 5 * timedelta(seconds=1), until)
        await listening.turn()


async def test_everybody_who_is_late_is_found_once_by_any_number_who_look(db: Db) -> None:
    clock, found = Clock(), Found()
    listening = CollectorPresence(db, clock=GivenClock(clock, lambda: NOON))
    monitors = await awaited(db, many=700)
    both = [sweeper(db, clock, found) for _ in range(2)]
    await pass_time(clock, listening, NOON + 10 * M)
    for heartbeat_sweeper in both:
        await heartbeat_sweeper.turn()
        await heartbeat_sweeper.turn()
    assert found.late == []

    await pass_time(clock, listening, NOON + 11 * M)
    for _ in range(3):
        await asyncio.gather(*(heartbeat_sweeper.turn() for heartbeat_sweeper in both))

    assert sorted(monitor for monitor, _ in found.late) == monitors
    assert {result.at for _, result in found.late} == {NOON + 11 * M}


async def test_the_time_in_which_the_database_was_away_counts_against_nobody(db: Db) -> None:
    clock, found = Clock(), Found()
    listening = CollectorPresence(db, clock=GivenClock(clock, lambda: NOON))
    await awaited(db)
    heartbeat_sweeper = sweeper(db, clock, found)
    await pass_time(clock, listening, NOON + 5 * M)
    clock.now += 30 * M

    for turn in (heartbeat_sweeper.turn, listening.turn, heartbeat_sweeper.turn):
        await turn()
    await pass_time(clock, listening, NOON + 41 * M)
    await heartbeat_sweeper.turn()
    assert found.late == []

    await pass_time(clock, listening, NOON + 43 * M)
    await heartbeat_sweeper.turn()
    assert [result.at for _, result in found.late] == [pytest.approx(NOON + 42 * M, abs=timedelta(seconds=1))]


async def test_with_a_clock_that_was_just_set_nobody_is_late(db: Db) -> None:
    clock, found = Clock(), Found()
    listening = CollectorPresence(db, clock=GivenClock(clock, lambda: NOON))
    await awaited(db)
    await pass_time(clock, listening, NOON + 20 * M)

    await HeartbeatSweeper(db, found, clock=GivenClock(clock, lambda: None)).turn()

    assert found.late == []
