"""What a transaction leaves for others is theirs once, after its commit, and never if it came to nothing."""

from typing import Final
from uuid import UUID

import pytest

from collector.events.storage import events
from collector.platform.storage import nested
from collector.platform.storage.db import Db, Tx
from collector.platform.storage.on_commit import Aftermath
from shared.clock import utc_now
from shared.ids import uuid7
from tests.events.payloads import payload_of
from tests.probes.ground import make_team

DOWN: Final = "monitor.down"
UP: Final = "monitor.up"


class Undone(Exception):
    """Rolls back."""


async def listening(db: Db) -> tuple[int, list[Aftermath]]:
    """A team, and what is passed on from now."""
    team_id, passed = await make_team(db, utc_now()), list[Aftermath]()
    db.pass_on = passed.append
    return team_id, passed


async def happen(tx: Tx, team_id: int, *kinds: str) -> None:
    stream: UUID = uuid7()
    await events.append_all(
        tx, [events.Event(team_id, stream, kind, payload_of({})) for kind in kinds], utc_now()
    )


async def test_what_was_appended_is_passed_on_after_the_commit_and_not_before(db: Db) -> None:
    team_id, passed = await listening(db)

    async with db.transaction() as tx:
        await happen(tx, team_id, DOWN)
        await happen(tx, team_id, UP, DOWN)
        assert passed == []

    assert [sorted(left.events) for left in passed] == [[DOWN, DOWN, UP]]


async def test_what_was_rolled_back_is_passed_on_to_nobody(db: Db) -> None:
    team_id, passed = await listening(db)

    with pytest.raises(Undone):
        async with db.transaction() as tx:
            await happen(tx, team_id, DOWN)
            raise Undone

    async with db.transaction() as tx:
        await tx.execute("SELECT")
    assert passed == []


async def test_parts_of_a_transaction_are_passed_on_with_its_whole(db: Db) -> None:
    team_id, passed = await listening(db)

    async with db.transaction() as tx:
        within = nested.UnitOfWork(tx)
        within.pass_on = passed.append
        async with within.transaction() as part:
            await happen(part, team_id, DOWN)
        with pytest.raises(Undone):
            async with within.transaction() as part:
                await happen(part, team_id, UP)
                raise Undone
        assert passed == []

    assert passed == [Aftermath([DOWN])]


async def test_transactions_side_by_side_are_passed_on_each_by_itself(db: Db) -> None:
    team_id, passed = await listening(db)

    async with db.transaction() as outer:
        await outer.execute("SELECT")
        async with db.transaction() as other:
            await happen(other, team_id, UP)
        assert passed == [Aftermath([UP])]
        await happen(outer, team_id, DOWN)

    assert passed == [Aftermath([UP]), Aftermath([DOWN])]
