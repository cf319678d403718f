"""The pool: what it promises about transactions, JSON and lost servers."""

import asyncpg
import pytest

from collector.storage.db import Db, hosts
from shared.errors import Unavailable


async def test_a_transaction_that_fails_leaves_nothing(db: Db) -> None:
    with pytest.raises(asyncpg.DivisionByZeroError):
        async with db.transaction() as tx:
            await tx.execute("INSERT INTO locations (name) VALUES ('here')")
            await tx.execute("SELECT 1 / 0")

    async with db.connection() as connection:
        assert await connection.fetchval("SELECT count(*) FROM locations") == 0


async def test_json_goes_in_and_comes_out_as_values(db: Db) -> None:
    value = {"name": "Zürich", "list": [1, 2.5, None], "deep": {"yes": True}}

    async with db.connection() as connection:
        assert await connection.fetchval("SELECT $1::jsonb", value) == value
        assert await connection.fetchval("SELECT $1::json", value) == value


async def test_json_can_be_copied_in(db: Db) -> None:
    async with db.transaction() as tx:
        await tx.execute("CREATE TEMP TABLE copied (value jsonb) ON COMMIT DROP")
        await tx.copy_records_to_table("copied", records=[({"a": 1},)])
        assert await tx.fetchval("SELECT value FROM copied") == {"a": 1}


async def test_a_connection_that_the_server_ends_is_unavailable_and_the_next_one_works(db: Db) -> None:
    with pytest.raises(Unavailable):
        async with db.transaction() as tx:
            await tx.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    async with db.connection() as connection:
        assert await connection.fetchval("SELECT 1") == 1


async def test_time_is_utc(db: Db) -> None:
    async with db.connection() as connection:
        assert await connection.fetchval("SHOW timezone") == "UTC"


@pytest.mark.parametrize(
    ("url", "each"),
    [
        pytest.param("postgresql://u:p@a/d", ["postgresql://u:p@a/d"], id="one host is left alone"),
        pytest.param(
            "postgresql://u:p@a:1,b:2/d?x=y",
            ["postgresql://u:p@a:1/d?x=y", "postgresql://u:p@b:2/d?x=y"],
            id="hosts in the authority",
        ),
        pytest.param(
            "postgresql://u:p@/d?host=a,b&port=1,2",
            ["postgresql://u:p@/d?host=a&port=1", "postgresql://u:p@/d?host=b&port=2"],
            id="hosts in the query",
        ),
        pytest.param(
            "postgresql://u:p@/d?host=a,b&port=1",
            ["postgresql://u:p@/d?host=a&port=1", "postgresql://u:p@/d?host=b&port=1"],
            id="one port for all hosts",
        ),
        pytest.param("postgresql:///d?host=/run/x", ["postgresql:///d?host=/run/x"], id="a socket"),
    ],
)
def test_hosts_of_a_url(url: str, each: list[str]) -> None:
    assert hosts(url) == each
