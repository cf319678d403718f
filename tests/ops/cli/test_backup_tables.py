"""Backup and restore of every table that the catalogue shows, so that none can be forgotten."""

import asyncio
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from collector.ops.storage import backup, backup_file, dump, restore
from collector.platform.seal import Keyring
from collector.platform.storage.connector import Connection
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import known, migrate
from shared.clock import utc_now
from shared.errors import CannotStart
from shared.tokens import new_key
from tests.history import packed
from tests.ops.every_table import DAY, SECRET, content, fill

# What goes ahead by design.
MOVED = {"streams", "monitor_marks", "monitor_counts", "schema_migrations"}


async def write(url: str, path: Path, *, recent_only: bool = False) -> backup_file.BackupHeader:
    with path.open("wb") as file:
        async with dump.connected(url, "test") as connection:
            header, _ = await backup.write(connection, file.write, utc_now(), recent_only=recent_only)
    return header


async def load(url: str, path: Path) -> list[str]:
    with path.open("rb") as file:
        checked = backup_file.check(file)
        async with dump.connected(url, "test") as connection:
            return await restore.load(connection, file, checked, utc_now())


async def ask(url: str, sql: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


async def contents(url: str) -> dict[str, list[Any]]:
    connection = await asyncpg.connect(url)
    try:
        return await content(connection)
    finally:
        await connection.close()


@pytest.fixture
async def full_url(database_url: str) -> str:
    """Of a database with a row in every table."""
    connection: Connection = await asyncpg.connect(database_url)
    try:
        there = await contents(database_url)
        taken = [table.name for table in await dump.tables(connection)]
        rest = sorted(there.keys() - set(taken) - {"schema_migrations"})
        await fill(connection, [*taken, *rest], Keyring.parse(new_key()))
    finally:
        await connection.close()
    return database_url


async def test_every_table_is_taken_or_left_out_by_name(database_url: str) -> None:
    assert set(await contents(database_url)) == {*dump.TAKEN, *dump.LEFT_OUT}


async def test_every_row_comes_back_as_it_was_but_for_what_is_left_out(
    full_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    await write(full_url, tmp_path / "file")
    before = await contents(full_url)
    assert not [name for name, rows in before.items() if not rows]

    assert await load(empty_database_url, tmp_path / "file") == []

    after = await contents(empty_database_url)
    assert after.keys() == before.keys()
    assert {name: after[name] for name in dump.TAKEN if name not in MOVED} == {
        name: before[name] for name in dump.TAKEN if name not in MOVED
    }
    assert not [name for name in dump.LEFT_OUT if after[name] and name not in MOVED]
    assert len(after["streams"]) == len(after["monitor_marks"]) == 1
    assert [counted for _, counted in after["monitor_counts"]] == ["(1,1)"]


async def test_days_of_results_are_days_again(full_url: str, empty_database_url: str, tmp_path: Path) -> None:
    await write(full_url, tmp_path / "file")
    await load(empty_database_url, tmp_path / "file")

    [(place, _)] = (await contents(empty_database_url))["results"]
    assert place == f"results_{DAY:%Y_%m_%d}"


async def test_packed_days_come_back_as_they_were(
    db: Db, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    rows = [*packed.every_minute(901), *packed.every_minute(902)[:7]]
    async with db.transaction() as tx:
        await packed.insert(tx, rows)
    await packed.pack_all(db)
    await write(database_url, tmp_path / "file")
    await load(empty_database_url, tmp_path / "file")

    restored = await Db.open(empty_database_url, size=1)
    try:
        assert await packed.read(restored, [(901, 1), (902, 1)]) == rows
    finally:
        await restored.close()


async def test_a_backup_of_recent_results_has_no_old_packed_days(
    db: Db, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    async with db.transaction() as tx:
        await packed.insert(tx, packed.every_minute(901))
    await packed.pack_all(db)
    await write(database_url, tmp_path / "file", recent_only=True)
    await load(empty_database_url, tmp_path / "file")

    for table in ("packed_results", "packed_days"):
        assert await ask(empty_database_url, f"SELECT count(*) FROM {table}") == 0


async def test_numbers_that_went_out_since_are_not_given_again(
    full_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    given = {"session_numbers": 70, "assignment_numbers": 80, "monitors_monitor_seq": 9}
    for name, number in given.items():
        await ask(full_url, f"SELECT setval('{name}', {number})")
    await write(full_url, tmp_path / "file")
    for name in given:
        await ask(full_url, f"SELECT nextval('{name}') FROM generate_series(1, 1000)")

    await load(empty_database_url, tmp_path / "file")

    for name in given:
        asked = f"SELECT nextval('{name}')"
        assert await ask(empty_database_url, asked) > await ask(full_url, asked)
    sequence = "SELECT sequence FROM streams"
    assert await ask(empty_database_url, sequence) > await ask(full_url, sequence)
    assert await ask(empty_database_url, "SELECT count(*) FROM streams WHERE routed <> sequence") == 0


async def test_events_that_wait_for_the_router_wait_on(
    full_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    await ask(full_url, "UPDATE streams SET sequence = 5, routed = 3")
    await write(full_url, tmp_path / "file")
    await load(empty_database_url, tmp_path / "file")

    assert await ask(empty_database_url, "SELECT (sequence, routed)::text FROM streams") == "(5,3)"


async def test_no_secret_is_readable_in_the_file_and_its_key_is_named(full_url: str, tmp_path: Path) -> None:
    header = await write(full_url, tmp_path / "file")

    packed = (tmp_path / "file").read_bytes()
    text = zlib.decompress(packed, 31)
    assert SECRET.encode() not in text
    assert SECRET.encode().hex().encode() not in text
    assert len([kid for kid in header.keys if len(kid) == 16]) == 1


async def test_it_is_one_moment_while_others_write(
    full_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    """A transaction that writes to two tables commits after the snapshot, before a table is read."""

    async def both() -> None:
        connection = await asyncpg.connect(full_url)
        try:
            async with connection.transaction():
                await connection.execute("UPDATE errors SET text = 'meanwhile'")
                await connection.execute("UPDATE users SET name = 'meanwhile'")
        finally:
            await connection.close()

    with (tmp_path / "file").open("wb") as file, ThreadPoolExecutor(1) as threads:
        wrote: list[None] = []

        def out(data: bytes) -> None:
            if not wrote:
                wrote.append(threads.submit(asyncio.run, both()).result())
            file.write(data)

        async with dump.connected(full_url, "test") as connection:
            await backup.write(connection, out, utc_now(), recent_only=False)
    await load(empty_database_url, tmp_path / "file")

    asked = "SELECT count(*) FROM {} WHERE {} = 'meanwhile'"
    for table, column in (("errors", "text"), ("users", "name")):
        assert await ask(full_url, asked.format(table, column)) == 1
        assert await ask(empty_database_url, asked.format(table, column)) == 0


async def test_old_results_may_stay_behind_but_not_those_that_hours_are_made_of(
    full_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    connection = await asyncpg.connect(full_url)
    try:
        await connection.execute("DELETE FROM rollups_dirty; UPDATE rollups_done SET until = now()")
        await connection.execute(
            "INSERT INTO results (ts, monitor, ms, location, n, run, status)"
            " SELECT now() - ago * interval '12 hours', 1, 1, 1, 0, 1, 1 FROM generate_series(1, 4) AS ago"
        )
    finally:
        await connection.close()

    header = await write(full_url, tmp_path / "file", recent_only=True)
    await load(empty_database_url, tmp_path / "file")

    assert DAY not in header.days
    assert await ask(full_url, "SELECT count(*) FROM results") == 5
    assert await ask(empty_database_url, "SELECT count(*) FROM results") == 4
    assert await ask(empty_database_url, "SELECT count(*) FROM ping_bodies") == 0
    assert await ask(empty_database_url, "SELECT count(*) FROM rollups_hour") == 1


@pytest.mark.oldest
async def test_a_backup_of_an_older_version_is_brought_to_this_one(
    empty_database_url: str, server_url: str, tmp_path: Path
) -> None:
    old = known()[:9]
    await migrate(empty_database_url, utc_now(), old)
    connection: Connection = await asyncpg.connect(empty_database_url)
    try:
        taken = [table.name for table in await dump.tables(connection)]
        await fill(connection, taken, Keyring.parse(new_key()))
    finally:
        await connection.close()
    await write(empty_database_url, tmp_path / "file")
    await ask(empty_database_url, "DROP SCHEMA public CASCADE")
    await ask(empty_database_url, "CREATE SCHEMA public")

    done = await load(empty_database_url, tmp_path / "file")

    assert done == [f"{each.version:04d}_{each.name}" for each in known()[9:]]
    found = await contents(empty_database_url)
    assert all(found[name] for name in taken)
    assert await ask(empty_database_url, "SELECT count(*) FROM users WHERE password IS NULL") == 1


async def test_a_database_that_was_migrated_and_not_used_yet_takes_a_backup(
    full_url: str, server_url: str, tmp_path: Path
) -> None:
    await write(full_url, tmp_path / "file")
    before = await contents(full_url)
    names = ", ".join(name for name in before if name != "schema_migrations")
    await ask(full_url, "ALTER TABLE audit_log DISABLE TRIGGER USER")
    await ask(full_url, "ALTER TABLE timeline DISABLE TRIGGER USER")
    await ask(full_url, f"TRUNCATE {names}")

    assert await load(full_url, tmp_path / "file") == []
    assert (await contents(full_url))["users"] == before["users"]


async def test_a_database_in_use_is_left_as_it_is_and_what_it_has_is_told(
    full_url: str, database_url: str, tmp_path: Path
) -> None:
    await write(full_url, tmp_path / "file")
    before = await contents(full_url)

    with pytest.raises(
        CannotStart, match=r"is in use, it has 1 of \w+, .* and \d+ more: restore into a new one"
    ):
        await load(full_url, tmp_path / "file")

    assert await contents(full_url) == before


async def test_a_database_of_somebody_else_is_left_as_it_is(
    full_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    await write(full_url, tmp_path / "file")
    await ask(empty_database_url, "CREATE TABLE orders (n int)")

    with pytest.raises(CannotStart, match="is not empty, it has orders"):
        await load(empty_database_url, tmp_path / "file")

    assert set(await contents(empty_database_url)) == {"orders"}
