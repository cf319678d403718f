"""Migrations: each once, whoever comes first, and never over a database that knows more."""

import asyncio

import asyncpg
import pytest
from structlog.testing import capture_logs

from collector.platform.storage.migrate import Migration, known, migrate
from shared.clock import utc_now
from shared.errors import CannotStart
from tests.waiting import WAITING

pytestmark = pytest.mark.races

ONE = Migration(1, "one", "CREATE TABLE one (n int)")
TWO = Migration(2, "two", "CREATE TABLE two (n int)")
BROKEN = Migration(2, "broken", "CREATE TABLE half (n int); SELECT 1 / 0")


async def tables(url: str) -> set[str]:
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        return {row["tablename"] for row in rows}
    finally:
        await connection.close()


def test_numbers_of_migrations_are_whole_and_without_gaps() -> None:
    assert [each.version for each in known()] == list(range(1, len(known()) + 1))


async def test_it_says_what_it_did_and_does_it_once(empty_database_url: str) -> None:
    done = await migrate(empty_database_url, utc_now())

    assert done == [f"{each.version:04d}_{each.name}" for each in known()]
    assert await migrate(empty_database_url, utc_now()) == []
    assert {"monitors", "results", "schema_migrations"} <= await tables(empty_database_url)


async def test_only_what_is_missing_is_applied(empty_database_url: str) -> None:
    await migrate(empty_database_url, utc_now(), [ONE])

    assert await migrate(empty_database_url, utc_now(), [ONE, TWO]) == ["0002_two"]


async def test_of_many_who_start_at_once_one_applies(empty_database_url: str) -> None:
    async with asyncio.timeout(60):
        done = await asyncio.gather(*[migrate(empty_database_url, utc_now(), [ONE, TWO]) for _ in range(6)])

    assert sorted(done) == [[]] * 5 + [["0001_one", "0002_two"]]


async def test_one_that_fails_leaves_the_database_as_it_was(empty_database_url: str) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate(empty_database_url, utc_now(), [ONE, BROKEN])

    assert await tables(empty_database_url) == set()


async def test_a_database_newer_than_the_program_is_refused(empty_database_url: str) -> None:
    await migrate(empty_database_url, utc_now(), [ONE, TWO])

    with pytest.raises(CannotStart, match="at version 2, and this Tocsin knows 1"):
        await migrate(empty_database_url, utc_now(), [ONE])


async def test_a_database_of_another_program_is_refused(empty_database_url: str) -> None:
    await migrate(empty_database_url, utc_now(), [Migration(1, "other", "CREATE TABLE other (n int)")])

    with pytest.raises(CannotStart, match="has migration 0001_other"):
        await migrate(empty_database_url, utc_now(), [ONE])


async def test_a_wrong_password_is_told_at_once(empty_database_url: str) -> None:
    login, _, rest = empty_database_url.partition("@")
    user = login.rpartition(":")[0]

    with pytest.raises(CannotStart, match="TOCSIN_DATABASE_URL cannot be used"):
        async with asyncio.timeout(10):
            await migrate(f"{user}:wrong@{rest}", utc_now())


async def test_during_a_long_read_all_others_go_on_and_it_is_done_afterwards(empty_database_url: str) -> None:
    """A backup reads every table for long; the schema waits, and nobody waits for the schema."""
    later = Migration(2, "later", "ALTER TABLE one ADD COLUMN more int")
    await migrate(empty_database_url, utc_now(), [ONE])
    reader, writer = await asyncpg.connect(empty_database_url), await asyncpg.connect(empty_database_url)
    backup = reader.transaction(isolation="repeatable_read", readonly=True)
    await backup.start()
    await reader.execute("LOCK TABLE one IN ACCESS SHARE MODE")
    with capture_logs() as logs:
        upgrade = asyncio.create_task(migrate(empty_database_url, utc_now(), [ONE, later]))
        async with asyncio.timeout(30):
            while not await writer.fetch(WAITING):
                await asyncio.sleep(0.01)
            # It waits for the upgrade's try to end, not for the read.
            await writer.execute("INSERT INTO one VALUES (1)")
        assert not upgrade.done()
        await backup.rollback()
        async with asyncio.timeout(60):
            assert await upgrade == ["0002_later"]
    assert await writer.fetchval("SELECT count(*) FROM one WHERE more IS NULL") == 1
    await reader.close()
    await writer.close()
    assert [line["event"] for line in logs if "schema" in line["event"]] == [
        "the schema waits for a long read, such as a backup, to end",
        "schema migrated",
    ]


async def test_what_was_applied_is_logged(empty_database_url: str) -> None:
    with capture_logs() as logs:
        await migrate(empty_database_url, utc_now(), [ONE])
        await migrate(empty_database_url, utc_now(), [ONE, TWO])
        await migrate(empty_database_url, utc_now(), [ONE, TWO])
    assert [line["applied"] for line in logs if "applied" in line] == ["all 1", ["0002_two"]]
