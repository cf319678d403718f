"""A check that stopped a probe is handed to no other, until it is changed."""

from uuid import UUID

import pytest

from collector.platform.storage.db import Db
from collector.probes.service.assignments import place, stop
from collector.probes.storage import plans
from shared.clock import utc_now
from tests.probes.ground import connect, enrol, fetch, make_monitors, make_team, newcomer

NOW = utc_now()


@pytest.fixture
async def team(db: Db) -> int:
    return await make_team(db, NOW)


async def stopped(db: Db, probe: UUID, monitor: int, revision: int = 1) -> list[int]:
    async with db.transaction() as tx:
        return await stop(tx, probe, [(monitor, revision)])


async def planned(db: Db, probe: UUID, monitor: int) -> dict[int, bool]:
    """The assignments of a probe, and whether it is to say that they stopped one."""
    async with db.connection() as tx:
        return {each.number: each.stopped for each in await plans.of_monitors(tx, probe, [monitor])}


async def test_all_who_have_it_get_it_anew_and_a_change_runs_it_again(db: Db, team: int) -> None:
    eu, us = await connect(db, "eu", now=NOW), await connect(db, "us", now=NOW)
    [monitor] = await make_monitors(db, team, locations=["eu", "us"], now=NOW)
    async with db.transaction() as tx:
        await place(tx, monitor, 1, ["eu", "us"], now=NOW)
    before = await planned(db, us, monitor)
    await fetch(db, "DELETE FROM signals")

    assert await stopped(db, eu, monitor, revision=2) == [], "another revision"
    assert await stopped(db, eu, monitor) == [monitor]

    after = await planned(db, us, monitor)
    assert (list(before.values()), list(after.values())) == ([False], [True])
    assert before.keys() != after.keys(), "a new number, or its probe would not hear of it"
    told = {
        probe for row in await fetch(db, "SELECT payload FROM signals") for probe in row["payload"]["probes"]
    }
    assert told == {str(eu), str(us)}
    assert await stopped(db, eu, monitor) == [], "said again"

    async with db.transaction() as tx:
        await tx.execute("UPDATE monitors SET revision = 2 WHERE monitor = $1", monitor)
        await place(tx, monitor, 2, ["eu", "us"], now=NOW)
    assert list((await planned(db, us, monitor)).values()) == [False]


@pytest.mark.oldest
async def test_a_team_s_probe_stops_its_own_monitors_alone(db: Db, team: int) -> None:
    foreign = newcomer("eu").probe_id
    await enrol(db, foreign, ["eu"], await make_team(db, NOW))
    ours = await connect(db, "eu", now=NOW)
    [monitor] = await make_monitors(db, team, locations=["eu"], now=NOW)
    async with db.transaction() as tx:
        await place(tx, monitor, 1, ["eu"], now=NOW)

    assert await stopped(db, foreign, monitor) == []
    assert await stopped(db, ours, monitor) == [monitor]
