"""Many deeds in one transaction: each is a part that can be undone alone; who is held up undoes all."""

import pytest

from collector.platform.storage.db import Db
from collector.platform.storage.nested import Crossed, impatient

HELD = "SELECT pg_advisory_xact_lock(7)"


async def kept(db: Db) -> list[str]:
    async with db.connection() as tx:
        return [row["text"] for row in await tx.fetch("SELECT text FROM errors ORDER BY text")]


async def test_a_part_that_fails_is_undone_alone(db: Db) -> None:
    async with db.transaction() as tx, impatient(tx) as whole:
        async with whole.transaction() as part:
            await part.execute("INSERT INTO errors (text) VALUES ('stays')")
        with pytest.raises(ValueError, match="no good"):
            async with whole.transaction() as part:
                await part.execute("INSERT INTO errors (text) VALUES ('goes')")
                raise ValueError("no good")

    assert await kept(db) == ["stays"]


async def test_whoever_would_wait_for_long_undoes_all(db: Db) -> None:
    async with db.transaction() as holder:
        await holder.execute(HELD)
        with pytest.raises(Crossed):
            async with db.transaction() as tx, impatient(tx) as whole:
                async with whole.transaction() as part:
                    await part.execute("INSERT INTO errors (text) VALUES ('goes')")
                async with whole.transaction() as part:
                    await part.execute("SET LOCAL lock_timeout = '20ms'")
                    await part.execute(HELD)

    assert await kept(db) == []
