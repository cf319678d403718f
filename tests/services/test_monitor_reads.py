"""Monitors whose numbers were made together are not all made anew together."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from collector.core.seal import Keyring
from collector.services import monitor_reads
from collector.services.monitor_reads import Whole
from collector.storage.db import Db
from shared.tokens import new_key
from tests.services.ground import make_monitors, make_team

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
MANY = 64
KEYRING = Keyring.parse(new_key())


async def made(db: Db) -> tuple[int, Sequence[UUID]]:
    """A team and the ids of its monitors."""
    team_id = await make_team(db, NOW)
    await make_monitors(db, team_id, MANY, now=NOW)
    async with db.connection() as tx:
        rows = await tx.fetch("SELECT id FROM monitors WHERE team_id = $1", team_id)
    return team_id, [row["id"] for row in rows]


async def read(db: Db, team_id: int, ids: Sequence[UUID], after: float) -> list[Whole]:
    """Each of them, so many seconds after NOW."""
    now = NOW + timedelta(seconds=after)
    return [await monitor_reads.one(db, KEYRING, team_id, id_, secrets=True, now=now) for id_ in ids]


@pytest.mark.parametrize(("after", "least", "most"), [(4.9, 0, 0), (7.5, 1, MANY - 1), (10, MANY, MANY)])
async def test_numbers_made_together_are_made_anew_apart(db: Db, after: float, least: int, most: int) -> None:
    team_id, ids = await made(db)

    before = await read(db, team_id, ids, 0)
    again = await read(db, team_id, ids, after)

    anew = sum(one is not other for one, other in zip(again, before, strict=True))
    assert least <= anew <= most
    await monitor_reads.close(db)
