"""The pool: what it promises about transactions, JSON and lost servers."""

import asyncio
import socket
from urllib.parse import urlsplit

import asyncpg
import pytest

from collector.platform.storage.connector import hosts
from collector.platform.storage.db import Db
from shared.errors import Unavailable

pytestmark = pytest.mark.races


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


async def test_a_primary_that_became_a_standby_is_left_for_the_new_one(db: Db) -> None:
    with pytest.raises(Unavailable):
        async with db.connection() as connection:
            await connection.execute("SET default_transaction_read_only = on")
            await connection.execute("INSERT INTO locations (name) VALUES ('here')")

    async with db.transaction() as tx:
        await tx.execute("INSERT INTO locations (name) VALUES ('here')")


async def test_a_host_that_hangs_is_passed_by(database_url: str) -> None:
    sockets = urlsplit(database_url).query.removeprefix("host=")
    with socket.create_server(("127.0.0.1", 0)) as hanging:  # takes connections and says nothing
        port = hanging.getsockname()[1]
        both = f"{database_url.partition('?')[0]}?host=127.0.0.1,{sockets}&port={port},5432"
        async with asyncio.timeout(3):
            opened = await Db.open(both)

    async with opened.connection() as connection:
        assert await connection.fetchval("SELECT 1") == 1
    await opened.close()


async def test_a_server_that_takes_no_writes_is_waited_for(database_url: str) -> None:
    name = urlsplit(database_url).path[1:]
    connection = await asyncpg.connect(database_url)
    await connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    opening = asyncio.ensure_future(Db.open(database_url))
    await asyncio.sleep(0.3)
    assert not opening.done()

    await connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")

    async with asyncio.timeout(20):
        await (await opening).close()
    await connection.close()


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
