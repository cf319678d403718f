"""A silent server is noticed, and what waits for it fails at once; a slow one is left in peace."""

import asyncio
import os
import random
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

import pytest
from structlog.testing import capture_logs

from collector.platform.storage.db import Db
from collector.platform.storage.liveness import LivenessWatch
from shared.errors import Unavailable
from tests.e2e.cable import Cable, cable

pytestmark = pytest.mark.races

PATIENCE_S = 1.0


@asynccontextmanager
async def behind_a_cable(database_url: str) -> AsyncIterator[tuple[Cable, str, Db]]:
    """A line to the server, the URL that leads over it, and a pool of such connections."""
    parts = urlsplit(database_url)
    folder = parse_qs(parts.query).get("host")
    at = f"{folder[0]}/.s.PGSQL.5432" if folder else f"{parts.hostname}:{parts.port or 5432}"
    async with cable(at) as line:
        url = f"postgresql://{parts.netloc.rpartition('@')[0]}@127.0.0.1:{line.port}{parts.path}"
        db = await Db.open(url, size=4, name="cut")
        try:
            yield line, url, db
        finally:
            line.whole.set()
            await db.close()


async def sleep_in(db: Db, seconds: float) -> None:
    async with db.connection() as tx:
        await tx.execute("SELECT pg_sleep($1)", seconds)


@pytest.mark.oldest
async def test_all_that_waits_for_a_silent_server_is_unavailable_and_the_next_works(
    database_url: str,
) -> None:
    async with behind_a_cable(database_url) as (line, url, db):
        watch = LivenessWatch(url, db.activity, patience_s=PATIENCE_S)
        await watch.turn()
        waiting = [asyncio.create_task(sleep_in(db, 60)) for _ in range(3)]
        await asyncio.sleep(0.3)

        line.whole.clear()
        with capture_logs() as logs:
            await watch.turn()
            async with asyncio.timeout(2):
                ends = await asyncio.gather(*waiting, return_exceptions=True)
            line.whole.set()
            await watch.turn()

        assert [type(end) for end in ends] == [Unavailable] * 3
        assert [entry["event"] for entry in logs] == ["database silent", "database answers again"]
        async with db.connection() as tx:
            assert await tx.fetchval("SELECT 1") == 1
        watch.close()


async def test_a_copy_that_cannot_send_on_ends_as_well(database_url: str) -> None:
    async with behind_a_cable(database_url) as (line, url, db):
        watch = LivenessWatch(url, db.activity, patience_s=PATIENCE_S)
        await watch.turn()

        def rows() -> Iterator[tuple[str]]:
            for number in range(50_000):
                if number == 10_000:
                    line.whole.clear()
                yield ("x" * 1_000,)

        async def copy() -> None:
            async with db.transaction() as tx:
                await tx.execute("CREATE TEMP TABLE copied (value text) ON COMMIT DROP")
                await tx.copy_records_to_table("copied", records=rows())

        copying = asyncio.create_task(copy())
        await asyncio.sleep(0.3)

        await watch.turn()
        done, _ = await asyncio.wait({copying}, timeout=5)

        assert [type(each.exception()) for each in done] == [Unavailable]
        watch.close()


async def test_an_interruption_at_any_moment_is_unavailable_and_nothing_else(database_url: str) -> None:
    db, chance = await Db.open(database_url, size=6), random.Random(1)
    odd: list[Exception] = []
    over = False

    async def work() -> None:
        while not over:
            try:
                async with db.connection() as tx, tx.transaction():
                    await asyncio.sleep(chance.choice((0, 0, 0.001)))
                    await tx.fetchval("SELECT 1")
                    await tx.fetchval(f"SELECT $1::int + {chance.randrange(10**6)}", 1)
            except Unavailable:
                pass
            except Exception as error:  # noqa: BLE001 - the finding
                odd.append(error)

    workers = [asyncio.create_task(work()) for _ in range(8)]
    for _ in range(500):
        await asyncio.sleep(chance.uniform(0, 0.015))
        db.activity.interrupt()
    over = True
    async with asyncio.timeout(20):
        await asyncio.gather(*workers)
    await db.close()

    assert odd == []


async def test_a_long_statement_goes_on_while_the_server_answers(db: Db, database_url: str) -> None:
    watch = LivenessWatch(database_url, db.activity, patience_s=0.2)
    long = asyncio.create_task(sleep_in(db, 1.5))

    while not long.done():
        await watch.turn()
        await asyncio.sleep(0.05)

    await long
    watch.close()


async def test_a_server_that_answers_others_is_slow_and_not_silent(db: Db, database_url: str) -> None:
    watch = LivenessWatch(database_url, db.activity, patience_s=3.0)
    await watch.turn()
    async with db.connection() as tx:
        pid = await tx.fetchval("SELECT pid FROM pg_stat_activity WHERE application_name = 'tocsin liveness'")
    long = asyncio.create_task(sleep_in(db, 4))
    os.kill(pid, signal.SIGSTOP)
    try:
        turn = asyncio.create_task(watch.turn())
        while not turn.done():
            await sleep_in(db, 0.1)
        with suppress(Unavailable):
            await turn
        await long
    finally:
        os.kill(pid, signal.SIGCONT)
        watch.close()


async def test_a_process_that_stood_still_itself_reads_the_answer_first(db: Db, database_url: str) -> None:
    watch = LivenessWatch(database_url, db.activity, patience_s=1.0)
    await watch.turn()
    turn = asyncio.create_task(watch.turn())
    waiting = asyncio.create_task(sleep_in(db, 3))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    time.sleep(1.5)  # as if it was stopped

    await turn
    await waiting
    watch.close()


async def test_a_server_that_refuses_is_not_silent(db: Db, database_url: str) -> None:
    nowhere = f"{database_url.partition('?')[0]}?host=127.0.0.1&port=1"
    waiting = asyncio.create_task(sleep_in(db, 0.5))
    await asyncio.sleep(0.1)

    await LivenessWatch(nowhere, db.activity, patience_s=PATIENCE_S).turn()

    await waiting
