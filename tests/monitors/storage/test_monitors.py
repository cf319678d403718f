"""Monitors as rows: what it takes to lock one."""

import pytest

from collector.monitors.storage import monitors
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.ids import uuid7
from tests.probes.ground import make_monitors, make_team


@pytest.mark.parametrize("type_", ["http", "prometheus"])
async def test_a_monitor_that_takes_no_pings_is_locked_by_one_question(db: Db, type_: str) -> None:
    team_id = await make_team(db, utc_now())
    await make_monitors(db, team_id, type_=type_, now=utc_now())
    asked: list[str] = []
    async with db.transaction() as tx:
        id_ = await tx.fetchval("SELECT id FROM monitors")
        with tx.query_logger(lambda record: asked.append(record.query)):
            locked = await monitors.lock(tx, team_id, id_)
        async with db.connection() as other:
            free = await other.fetch("SELECT FROM monitors FOR UPDATE SKIP LOCKED")

    assert locked is not None
    assert locked.id == id_
    assert len(asked) == 1
    assert not free


@pytest.mark.parametrize("type_", ["http", "heartbeat"])
async def test_nobody_locks_another_teams_monitor(db: Db, type_: str) -> None:
    mine, theirs = await make_team(db, utc_now()), await make_team(db, utc_now())
    await make_monitors(db, theirs, type_=type_, now=utc_now())
    async with db.transaction() as tx:
        id_ = await tx.fetchval("SELECT id FROM monitors")

        assert await monitors.lock(tx, mine, id_) is None
        assert await monitors.lock(tx, theirs, uuid7()) is None
