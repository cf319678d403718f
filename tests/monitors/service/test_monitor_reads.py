"""Numbers of monitors that were computed at the same time do not all expire at the same time."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from collector.monitors.service import reads
from collector.monitors.service.reads import CompleteMonitor
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from shared.tokens import new_key
from tests.probes.ground import make_monitors, make_team

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
# Half a second before an hour, and a day, begins.
EVE = datetime(2026, 1, 5, 23, 59, 59, 500_000, tzinfo=UTC)
MANY = 64
KEYRING = Keyring.parse(new_key())


async def made(db: Db) -> tuple[int, Sequence[UUID]]:
    """A team and the ids of its monitors."""
    team_id = await make_team(db, NOW)
    await make_monitors(db, team_id, MANY, now=NOW)
    async with db.connection() as tx:
        rows = await tx.fetch("SELECT id FROM monitors WHERE team_id = $1", team_id)
    return team_id, [row["id"] for row in rows]


async def read(
    db: Db, team_id: int, ids: Sequence[UUID], after: float, start: datetime = NOW
) -> list[CompleteMonitor]:
    """Each of them, so many seconds after *start*."""
    now = start + timedelta(seconds=after)
    return [await reads.one(db, KEYRING, team_id, id_, secrets=True, now=now) for id_ in ids]


async def checked(db: Db, id_: UUID, at: datetime) -> None:
    """A good check of the monitor."""
    async with db.transaction() as tx:
        await tx.execute("INSERT INTO locations (name) VALUES ('local')")
        await tx.execute(
            """
            INSERT INTO results (ts, monitor, location, n, run, status, code, ms)
            SELECT $2, monitor, location, 0, 1, 1, 200, 20 FROM monitors, locations WHERE id = $1
            """,
            id_,
            at,
        )


def recomputed(again: Sequence[CompleteMonitor], before: Sequence[CompleteMonitor]) -> int:
    """How many the database was asked for again: what is remembered has its configuration from then."""
    return sum(one.config is not other.config for one, other in zip(again, before, strict=True))


@pytest.mark.parametrize(("after", "least", "most"), [(4.9, 0, 0), (7.5, 1, MANY - 1), (10, MANY, MANY)])
async def test_numbers_that_are_computed_together_expire_apart(
    db: Db, after: float, least: int, most: int
) -> None:
    team_id, ids = await made(db)

    before = await read(db, team_id, ids, 0)
    again = await read(db, team_id, ids, after)

    assert least <= recomputed(again, before) <= most
    assert sum(one is not other for one, other in zip(again, before, strict=True)) <= most
    await db.let_go()


HOURS = [pytest.param(EVE - timedelta(hours=3), id="an hour"), pytest.param(EVE, id="a day")]


@pytest.mark.parametrize("eve", HOURS)
@pytest.mark.parametrize(("after", "least", "most"), [(1, 0, 0), (7.5, 1, MANY - 1), (10, MANY, MANY)])
async def test_the_begin_of_an_hour_or_a_day_has_not_all_numbers_asked_for_at_once(
    db: Db, eve: datetime, after: float, least: int, most: int
) -> None:
    team_id, ids = await made(db)

    before = await read(db, team_id, ids, 0, eve)
    again = await read(db, team_id, ids, after, eve)

    assert least <= recomputed(again, before) <= most
    await db.let_go()


async def test_what_was_checked_yesterday_is_not_told_as_checked_today(db: Db) -> None:
    team_id, [first, *_] = await made(db)
    await checked(db, first, EVE - timedelta(seconds=20))

    [before] = await read(db, team_id, [first], 0, EVE)
    [after] = await read(db, team_id, [first], 1, EVE)
    [again] = await read(db, team_id, [first], 2, EVE)

    assert (before.summary.checks_today, after.summary.checks_today) == (1, 0)
    assert recomputed([after], [before]) == 0
    assert again is after
    await db.let_go()
