"""The embedded server: starts where it should, refuses where it should not, comes back from anything."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import asyncpg
import pytest

from collector.platform.embedded import files
from collector.platform.embedded import user as embedded_user
from collector.platform.embedded.server import Embedded, reach
from shared.errors import CannotStart

pytestmark = [pytest.mark.races, pytest.mark.database]

FAST = {"fsync": "off"}


@pytest.fixture
async def start() -> AsyncIterator[Callable[[Path], "asyncio.Future[Embedded]"]]:
    """Starts servers, and stops those that still run when the test ends."""
    started: list[Embedded] = []

    async def one(directory: Path) -> Embedded:
        server = Embedded(directory, extra=FAST)
        started.append(server)
        await server.start()
        return server

    yield lambda directory: asyncio.ensure_future(one(directory))
    for server in started:
        await server.stop()


Start = Callable[[Path], "asyncio.Future[Embedded]"]


async def ask(server: Embedded, query: str) -> object:
    connection = await asyncpg.connect(server.url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_it_keeps_what_it_was_told_over_a_stop(tmp_path: Path, start: Start) -> None:
    first = await start(tmp_path)
    await ask(first, "CREATE TABLE kept AS SELECT 7 AS number")
    await first.stop()
    second = await start(tmp_path)

    assert await ask(second, "SELECT number FROM kept") == 7


async def test_it_listens_on_a_private_socket_alone_and_wants_its_password(
    tmp_path: Path, start: Start
) -> None:
    server = await start(tmp_path)

    assert await ask(server, "SHOW listen_addresses") == ""
    sockets = Path(str(await ask(server, "SHOW unix_socket_directories")))
    assert sockets.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "postgres-password").stat().st_mode & 0o777 == 0o600
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(host=str(sockets), user="tocsin", database="tocsin", password="wrong")


async def test_no_secret_is_in_any_command_line(tmp_path: Path, start: Start) -> None:
    await start(tmp_path)
    password = (tmp_path / "postgres-password").read_bytes().strip()

    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert password not in line.read_bytes()
        except OSError:
            continue


async def test_its_data_is_checked_by_sums_and_read_as_utf8(tmp_path: Path, start: Start) -> None:
    server = await start(tmp_path)

    assert await ask(server, "SHOW data_checksums") == "on"
    assert await ask(server, "SHOW server_encoding") == "UTF8"
    assert await ask(server, "SHOW timezone") == "UTC"


async def test_a_second_start_in_the_directory_is_refused_and_says_who_is_there(
    tmp_path: Path, start: Start
) -> None:
    await start(tmp_path)

    with pytest.raises(CannotStart, match=f"in use by another tocsin .process {os.getpid()}."):
        await start(tmp_path)


async def test_a_directory_of_another_version_is_refused_and_left_alone(tmp_path: Path, start: Start) -> None:
    server = await start(tmp_path)
    await server.stop()
    version = files.settle(tmp_path).data / "PG_VERSION"
    ours = version.read_text()
    version.write_text("17\n")

    with pytest.raises(CannotStart, match="was made by PostgreSQL 17"):
        await start(tmp_path)

    version.write_text(ours)
    assert await ask(await start(tmp_path), "SELECT 1") == 1


async def test_killed_it_is_started_again_with_what_was_committed(tmp_path: Path, start: Start) -> None:
    server = await start(tmp_path)
    await ask(server, "CREATE TABLE kept AS SELECT 7 AS number")
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)

    assert await server.wait() == -signal.SIGKILL
    await server.start()

    assert server.pid != pid
    assert await ask(server, "SELECT number FROM kept") == 7


async def test_a_start_that_was_killed_halfway_leaves_nothing_in_the_way(
    tmp_path: Path, start: Start
) -> None:
    half = files.settle(tmp_path).data.with_name("postgres-new")
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")

    assert await ask(await start(tmp_path), "SELECT 1") == 1
    assert not half.exists()


async def test_what_a_dead_machine_left_to_be_recognised_by_is_no_obstacle(
    tmp_path: Path, start: Start
) -> None:
    server = await start(tmp_path)
    place = files.settle(tmp_path)
    await server.stop()
    # After a restart of the machine the number may be anyone's: here, of this very process.
    (place.data / "postmaster.pid").write_text(
        f"{os.getpid()}\n{place.data}\n0\n5432\n{place.sockets}\n\n\nready\n"
    )
    (place.sockets / ".s.PGSQL.5432.lock").write_text(f"{os.getpid()}\n")

    assert await ask(await start(tmp_path), "SELECT 1") == 1


OWNER = """
import asyncio, logging, sys, structlog
from pathlib import Path
from collector.platform.embedded.server import Embedded
structlog.configure(
    wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
    logger_factory=structlog.PrintLoggerFactory(sys.stderr),
)
async def main():
    server = Embedded(Path(sys.argv[1]), extra={"fsync": "off"})
    await server.start()
    print(server.pid, flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""


async def test_it_ends_with_its_killed_owner_and_the_next_start_takes_over_at_once(
    tmp_path: Path, start: Start
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        held = await asyncpg.connect(files.url(tmp_path))
        owner.kill()
        owner.wait()

    server = await start(tmp_path)

    assert server.pid != pid
    assert await ask(server, "SELECT 1") == 1
    held.terminate()


async def test_a_directory_with_a_long_name_gets_its_socket_elsewhere(tmp_path: Path, start: Start) -> None:
    directory = tmp_path / ("long" * 30)
    first = await start(directory)
    sockets = Path(str(await ask(first, "SHOW unix_socket_directories")))
    await first.stop()
    second = await start(directory)

    assert len(bytes(sockets)) < 90
    assert await ask(second, "SHOW unix_socket_directories") == str(sockets)
    assert sockets.stat().st_mode & 0o777 == 0o700
    await second.stop()
    sockets.rmdir()


async def test_a_command_reaches_the_server_that_runs_and_else_starts_one(
    tmp_path: Path, start: Start
) -> None:
    async with reach(tmp_path) as url:
        own = await asyncpg.connect(url)
        await own.execute("CREATE TABLE kept AS SELECT 7 AS number")
        await own.close()
    server = await start(tmp_path)

    async with reach(tmp_path) as url:
        assert url == server.url
    assert await ask(server, "SELECT number FROM kept") == 7


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine where root can make no user namespace, and which has a system directory of its own."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory(prefix="tocsin-system-") as name:
        Path(name).chmod(0o711)
        monkeypatch.setattr(embedded_user, "SYSTEM_DIR", Path(name) / "system")
        monkeypatch.setattr(embedded_user, "_mapped", lambda: "mapped:nobody:nobody")  # which no kernel takes
        yield Path(name)


async def test_without_user_namespaces_root_s_server_runs_as_an_ordinary_user(
    no_namespaces: Path, start: Start
) -> None:
    directory = no_namespaces / "open" / "var"
    server = await start(directory)

    assert server.pid is not None
    assert Path(f"/proc/{server.pid}").stat().st_uid != 0
    assert await ask(server, "SHOW data_directory") == str(directory / "postgres")
    await server.stop()


async def test_where_no_other_user_may_enter_the_data_go_elsewhere_and_are_found_again(
    no_namespaces: Path, start: Start
) -> None:
    closed = no_namespaces / "closed"
    closed.mkdir(mode=0o700)
    first = await start(closed / "var")
    await ask(first, "CREATE TABLE kept AS SELECT 7 AS number")
    data = Path(str(await ask(first, "SHOW data_directory")))
    await first.stop()
    second = await start(closed / "var")

    assert data.is_relative_to(no_namespaces / "system")
    assert await ask(second, "SELECT number FROM kept") == 7
    await second.stop()


async def test_data_that_are_gone_from_elsewhere_are_not_begun_anew(
    no_namespaces: Path, start: Start
) -> None:
    closed = no_namespaces / "closed"
    closed.mkdir(mode=0o700)
    await (await start(closed / "var")).stop()
    shutil.rmtree(no_namespaces / "system")

    with pytest.raises(CannotStart, match="is not there"):
        await start(closed / "var")


async def test_root_runs_what_an_ordinary_user_made_as_that_user(
    no_namespaces: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = no_namespaces / "open" / "var"
    await (await start(directory)).stop()
    monkeypatch.setattr(embedded_user, "_mapped", lambda: "mapped:65534:65534")
    server = await start(directory)

    assert server.pid is not None
    assert Path(f"/proc/{server.pid}").stat().st_uid == (directory / "postgres").stat().st_uid != 0
    await server.stop()


def test_a_data_directory_that_cannot_be_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    beneath = tmp_path / "file" / "var"

    with pytest.raises(CannotStart, match=f"TOCSIN_DATA_DIR: {beneath} cannot be used"):
        files.lock(beneath)
    with pytest.raises(CannotStart, match="secret-key cannot be written"):
        files.kept(beneath / "secret-key", lambda: "x")
