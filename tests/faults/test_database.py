"""The database dies, hangs, or swallows the answer of a COMMIT: every fact is there once in the end."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from collector.evaluation.storage import cursors, locks
from collector.evaluation.writer import ResultWriter, Submission
from collector.platform.storage.db import Db
from collector.platform.storage.liveness import LivenessWatch
from shared.errors import Unavailable
from shared.results import Status
from tests.evaluation.world import World, make_world, writing
from tests.faults.walk import stopped
from tests.streams import stream_server

UP, DOWN = Status.UP, Status.DOWN
MONITORS = 12
IN_FLIGHT = 3
HUNG_S = float(os.environ.get("TOCSIN_TEST_HUNG_S", "2"))


async def send_until_stored(world: World, writer: ResultWriter, batches: Sequence[Submission]) -> None:
    """As a probe's session does: from the cursor on, again after each trouble, in a new session."""
    async with asyncio.timeout(60):
        while True:
            last_seq = await _reconnect(world)
            left = [
                replace(submission, session=world.session)
                for submission in batches
                if submission.batch.seq > last_seq
            ]
            if not left:
                return
            for start in range(0, len(left), IN_FLIGHT):
                some = map(writer.submit, left[start : start + IN_FLIGHT])
                if not all(one is True for one in await asyncio.gather(*some, return_exceptions=True)):
                    break


async def _reconnect(world: World) -> int:
    while True:
        try:
            world.session += 1
            await world.run(
                "UPDATE probe_cursors SET session = $1 WHERE probe_id = $2", world.session, world.probe_id
            )
            async with world.db.connection() as connection:
                cursor = await cursors.read(connection, world.probe_id, world.incarnation)
        except Exception:  # noqa: BLE001 - whatever a killed connection raises
            await asyncio.sleep(0.01)
        else:
            assert cursor is not None
            return cursor.last_seq


def outages(world: World, count: int) -> list[Submission]:
    """Every monitor goes down and comes back, *count* times, in small batches."""
    keys = sorted(world.assignments)
    batches: list[Submission] = []
    for _ in range(count):
        for status in (DOWN, DOWN, DOWN, DOWN, UP):
            batches.extend(
                world.batch_of(keys[start : start + 5], [status] * len(keys[start : start + 5]))
                for start in range(0, len(keys), 5)
            )
    return batches


async def assert_once(world: World, count: int) -> None:
    keys = len(world.assignments)
    assert await world.value("SELECT count(*) FROM results") == count * 5 * keys
    assert await world.value("SELECT count(*) FROM refused_results") == 0
    rows = await world.fetch("SELECT status, failure_count FROM incidents")
    # The seventh change is one too many: from then on it flaps, and its incident is held open.
    told, status = min(count, 3), "resolved" if count <= 3 else "open"
    assert [(row["status"], row["failure_count"]) for row in rows] == [(status, 4 * count)] * keys
    streams = await world.fetch(
        """
        SELECT array_agg(kind ORDER BY sequence) AS kinds FROM events
        WHERE kind IN ('monitor.down', 'monitor.up') GROUP BY stream_id
        """
    )
    assert [row["kinds"] for row in streams] == [["monitor.down", "monitor.up"] * told] * keys
    assert await world.value("SELECT count(*) FROM states WHERE failing OR fails > 0") == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_connections_killed_at_random_moments_lose_and_double_nothing(
    db: Db, server_url: str, seed: int
) -> None:
    world = await make_world(db, monitors=MONITORS)
    other = await Db.open(server_url, size=1, name="killer")
    chance = random.Random(seed)
    batches = outages(world, 8)

    async def kill() -> None:
        async with other.connection() as connection:
            while True:
                await asyncio.sleep(chance.uniform(0, 0.02))
                await connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name
                )

    name = await world.value("SELECT current_database()")
    killing = asyncio.create_task(kill())
    async with writing(world) as writer:
        sending = asyncio.create_task(send_until_stored(world, writer, batches))
        await asyncio.sleep(1.0)
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
        await sending
    await other.close()
    await _again(world)
    await assert_once(world, 8)


async def _again(world: World) -> None:
    """Until the pool has thrown away what was killed."""
    async with asyncio.timeout(10):
        while True:
            try:
                await world.value("SELECT 1")
            except Exception:  # noqa: BLE001 - whatever a killed connection raises
                await asyncio.sleep(0.01)
            else:
                return


@asynccontextmanager
async def swallowing(url: str, swallow: Callable[[], bool]) -> AsyncIterator[str]:
    """A proxy to the server that cuts the line when *swallow* says so, in place of the answer to a COMMIT."""
    socket = parse_qs(urlsplit(url).query).get("host")
    port = urlsplit(url).port or 5432

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if socket:
            there = await asyncio.open_unix_connection(f"{socket[0]}/.s.PGSQL.5432")
        else:
            there = await asyncio.open_connection(urlsplit(url).hostname, port)
        committing = False

        async def up() -> None:
            nonlocal committing
            while data := await reader.read(65536):
                committing = b"COMMIT;" in data
                there[1].write(data)
            there[1].close()

        async def down() -> None:
            while data := await there[0].read(65536):
                if committing and swallow():
                    break
                writer.write(data)
            writer.close()

        try:
            await asyncio.gather(up(), down(), return_exceptions=True)
        finally:
            there[1].close()
            writer.close()

    async with stream_server(serve) as port_here:
        yield f"127.0.0.1:{port_here}"


async def test_a_commit_whose_answer_is_lost_counts_once(db: Db, database_url: str) -> None:
    world = await make_world(db, monitors=MONITORS)
    chance = random.Random(4)
    lost = 0

    def swallow() -> bool:
        nonlocal lost
        gone = chance.random() < 0.3
        lost += gone
        return gone

    async with swallowing(database_url, swallow) as address:
        parts = urlsplit(database_url)
        login = parts.netloc.rpartition("@")[0]
        through = await Db.open(f"postgresql://{login}@{address}{parts.path}", size=2, name="cut")
        batches = outages(world, 6)
        async with writing(replace(world, db=through)) as writer:
            await send_until_stored(world, writer, batches)
        await through.close()
    assert lost > 5
    await assert_once(world, 6)


async def test_two_collectors_with_one_probe_store_everything_once(db: Db) -> None:
    """The older one was stopped for a while, with batches in hand, and goes on as if nothing had happened."""
    world = await make_world(db, monitors=MONITORS)
    batches = outages(world, 4)
    stale = [replace(submission) for submission in batches]
    async with writing(world) as old, writing(world) as new:
        first = [old.submit(submission) for submission in stale[:7]]
        await asyncio.wait(first[:1])
        left = [old.submit(submission) for submission in stale[7:]]
        await asyncio.gather(send_until_stored(world, new, batches), *left, *first, return_exceptions=True)
    await assert_once(world, 4)


async def test_a_transaction_of_a_stopped_collector_does_not_hold_its_probe_for_long(db: Db) -> None:
    async with db.transaction() as tx:
        await locks.begin(tx)
        idle = await tx.fetchval("SHOW idle_in_transaction_session_timeout")
    assert idle == "5s"


async def test_a_hung_server_is_waited_for_and_everything_is_stored_once(db: Db) -> None:
    world = await make_world(db, monitors=MONITORS)
    batches = outages(world, 4)
    async with writing(world) as writer:
        sending = asyncio.create_task(send_until_stored(world, writer, batches))
        await asyncio.sleep(0.05)
        pids = await world.fetch("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        with stopped([row["pid"] for row in pids]):
            await asyncio.sleep(HUNG_S)
        await sending
    await assert_once(world, 4)


async def test_what_waits_for_a_hung_server_fails_before_it_goes_on_and_is_stored_once(
    db: Db, database_url: str
) -> None:
    world = await make_world(db, monitors=MONITORS)
    batches = outages(world, 4)
    watch = LivenessWatch(database_url, db.activity, patience_s=1.0)
    await watch.turn()
    async with writing(world) as writer:
        pids = await world.fetch("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        with stopped([row["pid"] for row in pids]):
            waiting = writer.submit(replace(batches[0]))
            await watch.turn()
            done, _ = await asyncio.wait({waiting}, timeout=5)
            assert [type(each.exception()) for each in done] == [Unavailable]
        await send_until_stored(world, writer, batches)
    watch.close()
    await assert_once(world, 4)
