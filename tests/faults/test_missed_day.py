"""A day came and nobody had made its partition: nothing is refused or lost, and somebody hears of it."""

import asyncio
from datetime import timedelta

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from collector.history.jobs.days import DayPartitions
from collector.ops.job_health import Pulse
from collector.ops.jobs.deadman import Deadman
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from shared.clock import utc_now
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing
from tests.receiver import receiving

pytestmark = pytest.mark.races

BATCHES = 20


async def _lose_the_days(world: World) -> None:
    rows = await world.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'results'::regclass"
    )
    for row in rows:
        if row["name"] != "results_default":
            await world.run(f"DROP TABLE {row['name']}")


async def _astray(world: World) -> int:
    count: int = await world.value("SELECT count(*) FROM results_default")
    return count


async def test_results_of_a_day_without_a_partition_are_kept_told_of_and_moved(db: Db) -> None:
    world = await make_world(db)
    await _lose_the_days(world)
    days = DayPartitions(db, keep=timedelta(days=90), clock=GivenClock(utc_now))
    async with receiving() as watcher, writing(world) as writer:
        transport, ahead = Transport(allow_private=True), timedelta(seconds=-15)
        deadman = Deadman(db, transport, watcher.url(), Pulse(), now=lambda: utc_now() + ahead)
        ahead = timedelta()  # its first ping is due
        for _ in range(BATCHES):
            assert await writer.submit(world.batch(Status.UP))
        assert await _astray(world) == BATCHES
        assert await world.value("SELECT count(*) FROM results") == BATCHES

        with capture_logs() as logs:
            await deadman.turn()
        assert [entry["reason"] for entry in logs] == ["results are stored outside of every day"]
        assert watcher.received == []

        work = [writer.submit(world.batch(Status.UP)) for _ in range(BATCHES)]
        await asyncio.gather(days.turn(), *work)
        assert await _astray(world) == 0
        assert REGISTRY.get_sample_value("tocsin_results_astray") == 0
        assert await world.value("SELECT count(*) FROM results") == 2 * BATCHES
        await deadman.turn()
        assert len(watcher.received) == 1
        await transport.close()
