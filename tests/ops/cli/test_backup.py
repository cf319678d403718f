"""``tocsin backup`` and ``tocsin restore`` as processes: what they say, refuse, and leave behind."""

import asyncio
import os
import pty
import signal
import stat
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import asyncpg
import pytest

from collector import bootstrap
from collector.ops.storage import backup, backup_file
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from shared.clock import utc_now
from shared.tokens import new_key

pytestmark = pytest.mark.races

KEY = new_key()
KEY_ID = Keyring.parse(KEY).first.hex()


async def started(
    url: str, *arguments: str, key: str = KEY, out: IO[bytes] | int = PIPE, said: int = PIPE
) -> Process:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shared.command", *arguments,
        env={**kept, "TOCSIN_DATABASE_URL": url, "TOCSIN_SECRET_KEY": key},
        stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=said,
    )  # fmt: skip


async def tocsin(url: str, *arguments: str | Path, key: str = KEY) -> tuple[int, bytes, str]:
    """Exit status, output, and what it said."""
    process = await started(url, *map(str, arguments), key=key)
    out, data = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out, data.decode()


async def ask(url: str, sql: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


@pytest.fixture
async def used_url(db: Db, database_url: str) -> str:
    """Of a database with a team whose secrets are sealed with KEY."""
    await bootstrap.check_keys(db, Keyring.parse(KEY), utc_now())
    await bootstrap.bootstrap(db, plan="pro", admin_email="admin@example.com", token=None, now=utc_now())
    return database_url


@asynccontextmanager
async def held(url: str, table: str, name: str) -> AsyncIterator[asyncio.Event]:
    """Whoever wants *table* waits within; the event is set once somebody called *name* does."""
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction(), watched(url, name) as waits:
            await connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            yield waits
    finally:
        await connection.close()


@asynccontextmanager
async def watched(url: str, name: str) -> AsyncIterator[asyncio.Event]:
    """An event that is set once somebody called *name* waits for a lock of this database."""
    waits = asyncio.Event()
    watch = asyncio.create_task(_watch(url, name, waits))
    try:
        yield waits
    finally:
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)


async def _watch(url: str, name: str, waits: asyncio.Event) -> None:
    connection = await asyncpg.connect(url)
    try:
        while not await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE application_name = $1 AND wait_event_type = 'Lock' AND datname = current_database()",
            name,
        ):
            await asyncio.sleep(0.05)
        waits.set()
    finally:
        await connection.close()


async def test_a_database_goes_into_a_file_and_comes_out_of_it(
    used_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"

    status, out, text = await tocsin(used_url, "backup", file)
    assert (status, text) == (0, "")
    assert b" rows of " in out
    assert f"needs TOCSIN_SECRET_KEY with key {KEY_ID}" in out.decode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["file"]

    status, out, _ = await tocsin(empty_database_url, "restore", file, "--check")
    assert status == 0
    assert out.startswith(b"whole\n")
    assert await ask(empty_database_url, "SELECT to_regclass('teams')") is None

    status, out, _ = await tocsin(empty_database_url, "restore", file)
    assert status == 0
    assert out.startswith(b"restored\n")
    hashes = "SELECT encode(hash, 'hex') FROM tokens"
    assert await ask(empty_database_url, hashes) == await ask(used_url, hashes)

    status, _, text = await tocsin(empty_database_url, "restore", file)
    assert status == 2
    assert "the database is in use, it has " in text
    assert "1 of teams" in text


async def test_a_newer_backup_is_whole_and_of_no_use_here(used_url: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    connection = await asyncpg.connect(used_url)
    try:
        header, _ = await backup.write(connection, bytearray().extend, utc_now(), recent_only=False)
    finally:
        await connection.close()
    with file.open("wb") as out:
        writer = backup_file.BackupWriter(out.write)
        writer.begin(replace(header, migrations=[*header.migrations, "9999_later"], tables={}))
        writer.end(backup_file.Trailer({}, {}))

    status, data, text = await tocsin(used_url, "restore", file, "--check")

    assert status == 2
    assert data.startswith(b"whole\n")
    assert "restore it with the newer one" in text


async def test_on_a_terminal_it_says_how_far_it_is(
    used_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    for url, verb, doing in ((used_url, "backup", "written"), (empty_database_url, "restore", "restored")):
        ours, theirs = pty.openpty()
        try:
            process = await started(url, verb, str(tmp_path / "file"), said=theirs)
            await process.communicate()
            shown = os.read(ours, 65_536).decode()
        finally:
            os.close(ours)
            os.close(theirs)
        assert process.returncode == 0
        assert f"{doing}: 0.0 MiB" in shown
        assert shown.endswith("\r\x1b[K")


async def test_standard_output_has_the_file_and_nothing_else(used_url: str, tmp_path: Path) -> None:
    status, out, text = await tocsin(used_url, "backup", "-")

    assert status == 0
    (tmp_path / "file").write_bytes(out)
    with (tmp_path / "file").open("rb") as file:
        assert backup_file.check(file).trailer.rows["teams"] == 1
    assert " rows of " in text


async def test_a_file_that_is_there_is_replaced_only_if_told_so(used_url: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("the last one")

    status, _, text = await tocsin(used_url, "backup", file)
    assert status == 2
    assert "--overwrite" in text
    assert file.read_text() == "the last one"

    status, _, _ = await tocsin(used_url, "backup", file, "--overwrite")
    assert status == 0
    with file.open("rb") as opened:
        backup_file.check(opened)


async def test_what_cannot_be_written_or_found_is_told(used_url: str, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "file"

    status, _, text = await tocsin(used_url, "backup", missing)
    assert status == 1
    assert text == f"tocsin: {missing} cannot be written: No such file or directory\n"

    with Path("/dev/full").open("wb") as full:
        process = await started(used_url, "backup", "-", out=full)
        _, data = await process.communicate()
    assert process.returncode == 1
    assert data == b"tocsin: standard output cannot be written: No space left on device\n"

    status, _, text = await tocsin(used_url, "restore", missing)
    assert status == 2
    assert text == f"tocsin: {missing} cannot be read: No such file or directory\n"

    status, _, text = await tocsin(used_url, "restore", tmp_path)
    assert status == 2
    assert "must be an ordinary file" in text


async def test_a_database_that_is_none_of_tocsins_is_not_backed_up(
    empty_database_url: str, tmp_path: Path
) -> None:
    status, _, text = await tocsin(empty_database_url, "backup", tmp_path / "file")

    assert status == 2
    assert "nothing to back up" in text
    assert not [*tmp_path.iterdir()]


async def test_a_directory_without_a_database_gets_none_by_a_backup(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shared.command", "backup", str(tmp_path / "file"),
        env={**kept, "TOCSIN_DATA_DIR": str(tmp_path / "var")}, stderr=PIPE,
    )  # fmt: skip
    _, data = await process.communicate()

    assert process.returncode == 2
    assert b"there is no database in " in data
    assert not [*tmp_path.iterdir()]


async def test_without_the_key_nothing_is_made_and_the_key_is_named(
    used_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    await tocsin(used_url, "backup", tmp_path / "file")

    status, out, text = await tocsin(empty_database_url, "restore", tmp_path / "file", key=new_key())
    assert (status, out) == (2, b"")
    assert f"sealed with: key {KEY_ID};" in text
    assert KEY not in text
    assert await ask(empty_database_url, "SELECT to_regclass('schema_migrations')") is None

    status, _, _ = await tocsin(empty_database_url, "restore", tmp_path / "file", key=f"{new_key()},{KEY}")
    assert status == 0


async def test_a_damaged_file_and_one_of_a_newer_version_change_nothing(
    used_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    await tocsin(used_url, "backup", file)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    (tmp_path / "damaged").write_bytes(data)
    with file.open("rb") as opened, (tmp_path / "newer").open("wb") as newer:
        header = backup_file.check(opened).header
        writer = backup_file.BackupWriter(newer.write)
        migrations = [*header.migrations, "9999_of_tomorrow"]
        writer.begin(replace(header, migrations=migrations, tables={}))
        writer.end(backup_file.Trailer({}, {}))

    status, _, text = await tocsin(empty_database_url, "restore", tmp_path / "damaged")
    assert status == 2
    assert "damaged cannot be restored: it is damaged" in text

    status, _, text = await tocsin(empty_database_url, "restore", tmp_path / "newer")
    assert status == 2
    assert f"this Tocsin knows {len(migrations) - 1}: restore it with the newer one" in text
    assert await ask(empty_database_url, "SELECT to_regclass('schema_migrations')") is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_backup_that_is_stopped_leaves_no_file(
    used_url: str, tmp_path: Path, number: signal.Signals
) -> None:
    async with held(used_url, "users", "tocsin backup") as waits:
        process = await started(used_url, "backup", str(tmp_path / "file"))
        await waits.wait()
        process.send_signal(number)
        _, data = await process.communicate()

    assert process.returncode == 1
    assert data == b"tocsin: stopped before it was done; nothing was changed\n"
    assert not [*tmp_path.iterdir()]


async def test_a_killed_backup_leaves_nothing_under_its_name(used_url: str, tmp_path: Path) -> None:
    async with held(used_url, "users", "tocsin backup") as waits:
        process = await started(used_url, "backup", str(tmp_path / "file"))
        await waits.wait()
        process.kill()
        await process.communicate()

    assert not (tmp_path / "file").exists()
    assert (await tocsin(used_url, "backup", tmp_path / "file"))[0] == 0


@pytest.fixture
async def gated_url(used_url: str, tmp_path: Path) -> str:
    """Of a migrated database, where a restore of the file in *tmp_path* waits in its middle at a gate."""
    assert (await tocsin(used_url, "backup", tmp_path / "file"))[0] == 0
    await ask(used_url, "DROP SCHEMA public CASCADE")
    await ask(used_url, "CREATE SCHEMA public")
    await migrate(used_url, utc_now())
    body = "BEGIN PERFORM count(*) FROM gate; RETURN NEW; END"
    for sql in (
        "CREATE TABLE gate (n int)",
        f"CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql AS '{body}'",
        "CREATE TRIGGER gate BEFORE INSERT ON tokens FOR EACH ROW EXECUTE FUNCTION pass_gate()",
    ):
        await ask(used_url, sql)
    return used_url


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_restore_that_ends_in_the_middle_leaves_the_database_as_it_was(
    gated_url: str, tmp_path: Path, number: signal.Signals
) -> None:
    async with held(gated_url, "gate", "tocsin restore") as waits:
        process = await started(gated_url, "restore", str(tmp_path / "file"))
        await waits.wait()
        process.send_signal(number)
        await process.communicate()

    assert process.returncode == (1 if number is signal.SIGTERM else -9)
    status, _, text = await tocsin(gated_url, "restore", tmp_path / "file")
    assert (status, text) == (0, "")
    assert await ask(gated_url, "SELECT count(*) FROM tokens") == 1


async def test_a_collector_that_starts_meanwhile_waits_for_the_end_of_a_restore(
    gated_url: str, tmp_path: Path
) -> None:
    async with held(gated_url, "gate", "tocsin restore") as waits:
        process = await started(gated_url, "restore", str(tmp_path / "file"))
        await waits.wait()
        begins = asyncio.create_task(migrate(gated_url, utc_now()))
        async with watched(gated_url, "tocsin migrate") as waits_too:
            await waits_too.wait()

    await process.communicate()
    assert process.returncode == 0
    assert await begins == []
