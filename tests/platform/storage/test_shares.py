"""Shares of a pool: who takes all of one leaves the others theirs; all are connected from the start."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from collector import supervisor
from collector.platform.storage.db import Db, asking
from collector.platform.storage.shares import CONNECTIONS, PING_CONNECTIONS, WATCH_CONNECTIONS, Shares, shares
from collector.warm_connections import warm
from shared.errors import Unavailable

pytestmark = pytest.mark.races

_COUNT = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Db]:
    opened = await Db.open(database_url, size=CONNECTIONS, name="shared", kept=True)
    yield opened
    await opened.close()


@pytest.fixture
def own(pool: Db) -> Shares:
    return shares(pool)


async def take(db: Db, stack: AsyncExitStack, asker: int | None = None) -> None:
    """Hold one of its connections, within a moment."""
    with asking(asker):
        async with asyncio.timeout(5):
            await stack.enter_async_context(db.connection())


async def all_of(db: Db, stack: AsyncExitStack) -> int:
    """Hold as many as there are, each for another asker; how many those were."""
    taken = 0
    while True:
        waiting = asyncio.create_task(take(db, stack, taken))
        done, _ = await asyncio.wait({waiting}, timeout=0.3)
        if not done:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            return taken
        taken += 1


@pytest.mark.parametrize("workers", [2, 4, 40])
def test_the_embedded_server_has_room_for_all_workers(workers: int) -> None:
    kept_for_superusers = 3

    room = int(supervisor._room(workers)["max_connections"])

    assert room - kept_for_superusers > workers * (CONNECTIONS + PING_CONNECTIONS + WATCH_CONNECTIONS)


async def test_whoever_takes_all_of_one_share_leaves_the_others_theirs(own: Shares) -> None:
    async with AsyncExitStack() as stack:
        taken = await all_of(own.requests, stack)
        for db in (own.requests.quick, own.ingest, own.telling, own.sessions, own.upkeep):
            taken += await all_of(db, stack)
        assert taken == CONNECTIONS


async def test_one_team_leaves_a_connection_for_requests_of_others(own: Shares) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(4):
            await take(own.requests, stack, 1)
        waiting = asyncio.create_task(take(own.requests, stack, 1))

        await take(own.requests, stack, 2)

        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_who_waits_for_too_long_is_told_to_come_again(
    own: Shares, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(4):
            await take(own.requests, stack, 1)
        with monkeypatch.context() as patched:
            patched.setattr("collector.platform.storage.db._ACQUIRE_S", 0.05)
            with pytest.raises(Unavailable):
                await take(own.requests, stack, 1)
    async with AsyncExitStack() as stack:
        await take(own.requests, stack, 1)


async def test_all_connections_are_there_before_the_first_request_and_know_its_questions(pool: Db) -> None:
    await warm(pool, CONNECTIONS)

    async with pool.connection() as tx:
        assert await tx.fetchval(_COUNT, "shared") == CONNECTIONS
    prepared = []
    async with AsyncExitStack() as stack:
        for _ in range(CONNECTIONS):
            tx = await stack.enter_async_context(pool.connection())
            prepared.append(await tx.fetchval("SELECT count(*) FROM pg_prepared_statements"))
    assert min(prepared) >= 5


async def test_what_a_transaction_of_a_share_leaves_is_passed_on(pool: Db, own: Shares) -> None:
    passed: list[object] = []
    pool.pass_on = passed.append

    assert own.ingest.pass_on == pool.pass_on
