"""The internal monitor of each probe: how it did, hour by hour, written by one collector, shown to nobody."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.metrics.jobs.agent_metrics import AgentMetrics
from collector.platform.storage.db import Db
from collector.probes.storage.probes import ProbeSignal, note
from tests.clocks import GivenClock
from tests.probes.ground import connect, fetch

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


class Ground:
    def __init__(self, db: Db) -> None:
        self.db = db
        self.now = NOON
        self.sampler = self.another()

    def another(self) -> AgentMetrics:
        return AgentMetrics(self.db, clock=GivenClock(lambda: self.now))

    async def says(self, probe_id: UUID, **vitals: Any) -> None:
        async with self.db.transaction() as tx:
            session = await tx.fetchval("SELECT session FROM probes WHERE probe_id = $1", probe_id)
            await note(tx, [ProbeSignal(probe_id, session, self.now, vitals)])

    async def hours(self) -> list[dict[str, Any]]:
        return await fetch(self.db, "SELECT * FROM agent_metrics_hour ORDER BY at, probe_id")


@pytest.mark.oldest
async def test_the_hour_has_the_sums_and_the_most_of_what_was_said(db: Db) -> None:
    probe_id = await connect(db, "eu", now=NOON)
    ground = Ground(db)
    await ground.says(probe_id, started=100, skipped=1, dropped=0, running=3, lateUsMax=900, skewMs=-5)
    await ground.sampler.turn()
    ground.now += 10 * SECOND
    await ground.says(
        probe_id, started=160, skipped=1, dropped=7, running=2, lateUsMax=50, skewMs=4, blind=True
    )
    await ground.sampler.turn()
    [hour] = await ground.hours()
    assert (hour["probe_id"], hour["at"], hour["samples"], hour["blind"]) == (probe_id, NOON, 2, 1)
    assert (hour["started"], hour["skipped"], hour["dropped"]) == (60, 0, 7)
    assert (hour["running"], hour["late_us"]) == (3, 900)
    assert (hour["skew_ms_min"], hour["skew_ms_max"]) == (-5, 4)


async def test_each_hour_has_its_own_and_a_new_process_counts_from_nothing(db: Db) -> None:
    probe_id = await connect(db, "eu", now=NOON)
    ground = Ground(db)
    for started in (100, 130, 20):
        await ground.says(probe_id, started=started)
        await ground.sampler.turn()
        ground.now += HOUR
    assert [(hour["at"], hour["started"]) for hour in await ground.hours()] == [
        (NOON, 0),
        (NOON + HOUR, 30),
        (NOON + 2 * HOUR, 20),
    ]


async def test_of_several_collectors_one_works(db: Db) -> None:
    probe_id = await connect(db, "eu", now=NOON)
    ground = Ground(db)
    await ground.says(probe_id, started=1)
    for sampler in (ground.sampler, ground.another(), ground.another()):
        await sampler.turn()
    assert [hour["samples"] for hour in await ground.hours()] == [1]


async def test_a_silent_probe_has_no_samples(db: Db) -> None:
    probe_id = await connect(db, "eu", now=NOON)
    ground = Ground(db)
    await ground.says(probe_id, started=1)
    await ground.sampler.turn()
    ground.now += HOUR
    await ground.sampler.turn()
    assert len(await ground.hours()) == 1


async def test_a_probe_that_says_nonsense_spoils_nobodys_numbers(db: Db) -> None:
    liar, honest = await connect(db, "eu", now=NOON), await connect(db, "eu", now=NOON)
    ground = Ground(db)
    await ground.says(liar, started=2**64 - 1, skewMs=-(10**18), rssBytes=2**64 - 1, running="many")
    await ground.says(honest, started=5)
    await ground.sampler.turn()
    await ground.sampler.turn()
    assert {hour["probe_id"]: hour["samples"] for hour in await ground.hours()} == {liar: 2, honest: 2}
