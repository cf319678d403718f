"""One owner holds a lease, by the database's clock, and no clock that was ahead prolongs it."""

from datetime import timedelta
from uuid import UUID, uuid4

from collector.notifications.storage import senders
from collector.platform.storage import leases
from collector.platform.storage.db import Db

NAME = "days of results"
LENGTH = timedelta(minutes=10)
OWNER, OTHER = uuid4(), uuid4()


async def take(db: Db, owner: UUID) -> int | None:
    async with db.transaction() as tx:
        return await leases.take(tx, NAME, owner, LENGTH)


async def held(db: Db) -> bool:
    async with db.connection() as tx:
        return await leases.held(tx, NAME, LENGTH, besides=OTHER)


async def move(db: Db, name: str, from_now: timedelta) -> None:
    async with db.connection() as tx:
        await tx.execute("UPDATE leases SET until = now() + $2 WHERE name LIKE $1", name, from_now)


async def test_one_holds_it_until_it_is_over(db: Db) -> None:
    assert await take(db, OWNER) == 1
    assert await take(db, OTHER) is None
    assert await take(db, OWNER) == 1
    assert await held(db)
    await move(db, NAME, timedelta(seconds=-1))
    assert not await held(db)
    assert await take(db, OTHER) == 2
    assert await take(db, OWNER) is None


async def test_one_that_was_taken_while_the_clock_was_ahead_is_over(db: Db) -> None:
    assert await take(db, OWNER) == 1
    await move(db, NAME, timedelta(hours=24))
    assert not await held(db)
    assert await take(db, OTHER) == 2


async def test_one_that_was_prolonged_since_our_transaction_began_is_not_taken_for_such(db: Db) -> None:
    assert await take(db, OWNER) == 1
    async with db.transaction() as tx:
        await tx.execute("SELECT now()")
        assert await take(db, OWNER) == 1
        assert await leases.take(tx, NAME, OTHER, LENGTH) is None
        assert not await leases.held(tx, NAME, LENGTH, besides=OWNER)
        assert await leases.held(tx, NAME, LENGTH, besides=OTHER)


async def test_a_sender_of_a_clock_that_was_ahead_is_dead(db: Db) -> None:
    alive_for = timedelta(seconds=30)
    async with db.connection() as tx:
        await senders.beat(tx, OWNER, alive_for)
    await move(db, "sender %", timedelta(hours=1))
    async with db.connection() as tx:
        assert await senders.beat(tx, OTHER, alive_for)
        assert await tx.fetchval("SELECT array_agg(owner) FROM leases") == [OTHER]
        assert not await senders.beat(tx, OTHER, alive_for)
