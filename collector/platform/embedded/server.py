"""The embedded PostgreSQL: the wheel's programs as a child process on a private socket."""

import asyncio
import os
import secrets
import shutil
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import structlog

from collector.platform.embedded import files
from collector.platform.embedded.storage import NEW_DATABASE
from shared.errors import CannotStart

log = structlog.get_logger()

# For a small machine: the whole product has 250 MB. Statements and rows are not logged: they hold secrets.
SETTINGS: Final = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "40",
    "shared_buffers": "64MB",
    "work_mem": "4MB",
    "maintenance_work_mem": "32MB",
    "huge_pages": "off",
    "jit": "off",
    "io_method": "sync",
    "max_worker_processes": "2",
    "max_parallel_workers_per_gather": "0",
    "max_logical_replication_workers": "0",
    "autovacuum_max_workers": "2",
    "autovacuum_worker_slots": "2",
    "autovacuum_naptime": "15s",
    "wal_compression": "pglz",
    "max_wal_size": "512MB",
    "min_wal_size": "80MB",
    "checkpoint_timeout": "10min",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_line_prefix": "",
    "log_checkpoints": "off",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
_LEVELS: Final = {"WARNING": "warning", "ERROR": "warning", "FATAL": "warning", "PANIC": "critical"}
_READY_S: Final = 60.0
_TICK_S: Final = 0.02


class Embedded:
    """One server for one data directory; at most one may run, anywhere on the machine."""

    def __init__(self, data_dir: Path, *, extra: Mapping[str, str] | None = None) -> None:
        self.data_dir = data_dir.resolve()
        self._settings = {**SETTINGS, **(extra or {})}
        self._lock: int | None = None
        self._place: files.ServerHome | None = None
        self._process: Process | None = None
        self._log: asyncio.Task[None] | None = None
        self._quiet = True  # during startup and shutdown, when its log lines are routine

    @property
    def url(self) -> str:
        return files.url(self.data_dir)

    @property
    def pid(self) -> int | None:
        """The id of the server's first process, while it runs."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def start(self) -> None:
        """Start the server, also after a crash; on return it accepts connections. Raises CannotStart."""
        if self._lock is None:
            self._lock = files.lock(self.data_dir)
        try:
            place = self._place = self._place or files.settle(self.data_dir)
            password = files.kept(self.data_dir / "postgres-password", secrets.token_urlsafe)
            if not (place.data / "PG_VERSION").exists():
                _create(place, password)
                files.note_home(self.data_dir, place)
            _check(place)
            await _end_leftovers(place)
            await self._spawn(place)
        except BaseException:
            await self.stop()
            raise

    async def wait(self) -> int:
        """Wait for the server to exit; return its exit status."""
        if self._process is None:
            raise RuntimeError("not started")
        return await self._process.wait()

    async def stop(self, grace: float = 8.0) -> None:
        """Stop it cleanly within *grace* seconds, else kill it; its next start then recovers."""
        self._quiet = True
        if self._process is not None and self._process.returncode is None:
            await _end(self._process, grace)
        if self._log is not None:
            # Read its last lines; a child that outlives the server may keep the pipe open.
            await asyncio.wait([self._log], timeout=1.0)
            self._log.cancel()
        self._process = self._log = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def _spawn(self, place: files.ServerHome) -> None:
        settings = {
            **self._settings,
            "unix_socket_directories": str(place.sockets),
            "cluster_name": place.title,
        }
        arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self._quiet = True
        self._process = await asyncio.create_subprocess_exec(
            *place.command("postgres", "-D", str(place.data), *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=PIPE,
            env={"LC_ALL": "C"},
            start_new_session=True,
        )
        messages: list[str] = []
        self._log = asyncio.create_task(self._listen(self._process, messages))
        await _ready(place, self._process, messages)
        self._quiet = False
        messages.clear()

    async def _listen(self, process: Process, messages: list[str]) -> None:
        """Log the server's output until it exits."""
        if process.stderr is None:
            return
        async for line in _lines(process.stderr):
            level, _, text = line.decode(errors="replace").strip().partition(":  ")
            if self._quiet and len(messages) < 100:
                messages.append(f"{level}: {text}")
            plain = "debug" if self._quiet else "info"
            name = plain if self._quiet and level != "PANIC" else _LEVELS.get(level, plain)
            getattr(log, name)("postgres says", text=text or level)


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Lines until the end, skipping overlong ones; it keeps reading so that the writer never blocks."""
    while True:
        try:
            line = await stream.readline()
        except ValueError:
            continue
        if not line:
            return
        yield line


@asynccontextmanager
async def reach(data_dir: Path) -> AsyncIterator[str]:
    """The URL of the directory's database: of a running server, else of one started for the duration."""
    server = Embedded(data_dir)
    try:
        await server.start()
    except files.DirectoryInUse:
        yield files.url(server.data_dir)
        return
    try:
        yield server.url
    finally:
        await server.stop()


def _create(place: files.ServerHome, password: str) -> None:
    """Create the data directory and its database, in a temporary place and then renamed."""
    new = place.data.with_name("postgres-new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    secret = new.with_name("postgres-new-password")
    secret.unlink(missing_ok=True)
    files.write_private(secret, password)
    for path in (new, secret):
        os.chown(path, place.user.uid, place.user.gid)
    log.debug("making the database", directory=str(place.data))
    place.run(
        "initdb", "-D", str(new), "-U", files.NAME, "--auth=scram-sha-256", f"--pwfile={secret}",
        "--no-locale", "--encoding=UTF8", "--data-checksums", "--no-instructions",
    )  # fmt: skip
    secret.unlink()
    place.run(
        "postgres", "--single", "-D", str(new), "-c", "exit_on_error=on", "postgres",
        stdin=NEW_DATABASE,
    )  # fmt: skip
    new.rename(place.data)
    files.sync_dir(place.data.parent)


def _check(place: files.ServerHome) -> None:
    made_by = (place.data / "PG_VERSION").read_text().strip()
    ours = place.major()
    if made_by != ours:
        raise CannotStart(
            f"{place.data} was made by PostgreSQL {made_by}, and this Tocsin brings {ours}: "
            f"dump it with a PostgreSQL {made_by} (pg_dump) and restore it into a new directory"
        )
    owner = place.data.stat().st_uid
    if owner != place.user.uid:
        raise CannotStart(
            f"{place.data} belongs to user {owner}, and PostgreSQL would run as user {place.user.uid}"
        )


async def _end_leftovers(place: files.ServerHome) -> None:
    """Stop processes that a killed supervisor left behind; this process holds the lock."""
    for number, seconds in ((signal.SIGINT, 8.0), (signal.SIGQUIT, 3.0), (signal.SIGKILL, 3.0)):
        left = place.running()
        if not left:
            break
        log.warning("ending a server that was left running", processes=left, signal=number.name)
        # The first process stops the others in order; they interpret SIGINT differently.
        chosen = [pid for pid in left if pid == place.status()[0]] if number == signal.SIGINT else left
        for pid in chosen:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        for _ in range(round(seconds / _TICK_S)):
            if not place.running():
                break
            await asyncio.sleep(_TICK_S)
    else:
        raise CannotStart(f"another PostgreSQL is running over {place.data} and does not end")
    files.clear_stale(place)


async def _ready(place: files.ServerHome, process: Process, messages: list[str]) -> None:
    """Wait until the server accepts connections."""
    for _ in range(round(_READY_S / _TICK_S)):
        if process.returncode is not None:
            raise CannotStart("PostgreSQL does not start: " + "; ".join(messages[-5:]))
        if place.status() == (process.pid, "ready"):
            return
        await asyncio.sleep(_TICK_S)
    raise CannotStart(f"PostgreSQL did not become ready in {_READY_S:.0f} s")


async def _end(process: Process, grace: float) -> None:
    for number, seconds in ((signal.SIGINT, grace), (signal.SIGQUIT, 3.0), (signal.SIGKILL, 3.0)):
        with suppress(ProcessLookupError):
            process.send_signal(number)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await process.wait()
                return
