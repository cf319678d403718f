"""A probe that was last heard of by a clock that was ahead: it is no clone, and nobody relies on it."""

from datetime import timedelta

import pytest

from collector.metrics.storage import agent_metrics
from collector.overview.storage import overview
from collector.platform.storage.db import Db
from collector.probes.core.assignment import LIVE
from collector.probes.service.sessions import accept
from collector.probes.storage import probes
from shared.clock import utc_now
from shared.errors import Conflict
from tests.probes.ground import connect, make_team, newcomer

NOW = utc_now()
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("ahead", [HOUR, LIVE + SECOND])
async def test_after_its_machine_was_restarted_it_is_no_clone(db: Db, ahead: timedelta) -> None:
    probe_id = await connect(db, "local", now=NOW + ahead, boot_id="boot-1")
    await accept(db, newcomer("local", probe_id=probe_id, boot_id="boot-2"), NOW)


async def test_one_that_was_heard_just_now_is_refused_its_clone(db: Db) -> None:
    probe_id = await connect(db, "local", now=NOW + SECOND, boot_id="boot-1")
    with pytest.raises(Conflict, match="clone"):
        await accept(db, newcomer("local", probe_id=probe_id, boot_id="boot-2"), NOW)


@pytest.mark.parametrize("ahead", [HOUR, timedelta(), -HOUR])
async def test_it_is_live_only_around_the_time_at_which_it_was_heard(db: Db, ahead: timedelta) -> None:
    team_id = await make_team(db, NOW)
    await connect(db, "local", now=NOW + ahead)
    there = not ahead
    async with db.connection() as tx:
        await tx.execute("UPDATE probes SET vitals = '{\"running\": 1}'::jsonb")
        assert await probes.served(tx, team_id, NOW) == (["local"] if there else [])
        assert (await probes.connected(tx, team_id, "http", [], NOW) is not None) is there
        assert (await overview.counts(tx, team_id, NOW, LIVE)).live == there
        assert len(await agent_metrics.live(tx, NOW)) == there
