"""The supervisor of ``tocsin up``: starts PostgreSQL, a collector and a probe, restarts each that dies."""

import asyncio
import os
import time
from asyncio.subprocess import Process
from collections.abc import Awaitable
from pathlib import Path
from typing import Final

import structlog

from collector import bootstrap
from collector.platform import secret_key_file
from collector.platform.embedded import files
from collector.platform.embedded.server import Embedded
from collector.platform.seal import Keyring
from collector.platform.storage import database_time
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from collector.platform.storage.shares import CONNECTIONS, PING_CONNECTIONS, WATCH_CONNECTIONS
from collector.probes.service import authority, join_tokens
from shared import children
from shared.clock import utc_now
from shared.errors import CannotStart, TocsinError, Unavailable
from shared.setting_table import DEMO_WORLD, address
from shared.settings import CollectorSettings, ProbeSettings, UpSettings, environment

log = structlog.get_logger()

# Until then the collector may be about to report the cause itself.
_QUIET_S: Final = 15.0
_TRY_AGAIN_S: Final = 1.0
# In total less than the 10 s within which everything has to stop.
_GRACE_S: Final = {"probe": 3.0, "collector": 4.0, "postgres": 2.0}


class Supervisor:
    """One task for each process keeps it running. *collector*: a process that loads its code already."""

    def __init__(self, settings: UpSettings, collector: Process) -> None:
        self._settings = settings
        self._server: Embedded | None = None
        self._lock: int | None = None
        self._children = {"collector": collector}
        self._keepers: list[asyncio.Task[None]] = []

    async def work(self) -> None:
        """Start everything and keep it running. Raises CannotStart."""
        url = self._settings.database_url
        keepers: list[Awaitable[None]] = []
        loaded = dict(self._children)
        if url is None:
            server = self._server = Embedded(self._settings.data_dir, extra=_room(self._settings.workers))
            await server.start()
            log.info("started", process="postgres", pid=server.pid)
            url = server.url
            keepers.append(children.keep("postgres", _Revival(server)))
        else:
            self._lock = files.lock(self._settings.data_dir)
        key = self._settings.secret_key or await _own_key(url, self._settings.data_dir)
        for name, variables in self._environments(url, key).items():
            life = self._life(name, variables, loaded)
            keepers.append(
                children.keep(name, self._joined(url, key, variables, life) if name == "probe" else life)
            )
        self._keepers = [asyncio.ensure_future(keeper) for keeper in keepers]
        await children.all_kept(self._keepers)

    async def stop(self) -> None:
        """Stop the probe, then the collector, then PostgreSQL, each within its grace."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for name in ("probe", "collector"):
            if name in self._children:
                await children.end(self._children[name], _GRACE_S[name])
        if self._server is not None:
            await self._server.stop(_GRACE_S["postgres"])
        if self._lock is not None:
            os.close(self._lock)

    def _environments(self, url: str, key: str) -> dict[str, dict[str, str]]:
        settings = self._settings
        return {
            "collector": environment(CollectorSettings, settings, database_url=url, secret_key=key),
            "probe": environment(ProbeSettings, settings, collector=_reachable(settings.grpc_listen)),
        }

    def _joined(self, url: str, key: str, variables: dict[str, str], live: children.Life) -> children.Life:
        """A life of the probe that begins with a join token in its environment, where only it sees it."""

        async def joined() -> int:
            variables["TOCSIN_JOIN_TOKEN"] = await _join_token_in_time(url, key, self._settings)
            return await live()

        return joined

    def _life(self, name: str, variables: dict[str, str], loaded: dict[str, Process]) -> children.Life:
        """One life of a child: start it, wait for its exit, return its exit status.

        The first may be of a process in *loaded*.
        """

        async def live() -> int:
            if name in loaded:
                child = loaded.pop(name)
                children.begin(child, variables)
            else:
                child = self._children[name] = await children.start(variables, name)
            log.info("started", process=name, pid=child.pid)
            return await child.wait()

        return live


class _Revival:
    """Lives of the database server; the first one is already running."""

    def __init__(self, server: Embedded) -> None:
        self._server = server

    async def __call__(self) -> int:
        if self._server.pid is None:
            try:
                await self._server.start()
            except CannotStart as error:
                log.error("does not start", process="postgres", error=str(error))  # noqa: TRY400 - expected, not a bug
                return 1
            log.info("started", process="postgres", pid=self._server.pid)
        return await self._server.wait()


async def _own_key(url: str, data_dir: Path) -> str:
    """The key in its file. Raises CannotStart if the database is encrypted with another one."""
    key = await secret_key_file.kept(url, data_dir)
    try:
        await migrate(url, utc_now())
        db = await Db.open(url, size=1, name="tocsin up")
    except Unavailable:
        return key  # the collector retries and checks the key itself
    try:
        file = secret_key_file.path(data_dir)
        await bootstrap.check_keys(db, Keyring.parse(key), utc_now(), f"{file}, without TOCSIN_SECRET_KEY,")
    finally:
        await db.close()
    return key


async def _join_token_in_time(url: str, key: str, settings: UpSettings) -> str:
    """Retry until there is a token: the collector fails for the same reason and reports it."""
    began, complaint = time.monotonic(), ""
    while True:
        try:
            return await _join_token(url, key, settings)
        except (TocsinError, OSError) as error:
            if str(error) != complaint and time.monotonic() - began > _QUIET_S:
                complaint = str(error)
                log.warning("no join token yet", process="probe", reason=complaint)
        await asyncio.sleep(_TRY_AGAIN_S)


async def _join_token(url: str, key: str, settings: UpSettings) -> str:
    """Issue a token for the built-in probe; once its workers have joined, only their keys may use it."""
    await migrate(url, utc_now())
    db = await Db.open(url, size=1, name="tocsin up")
    try:
        now = await database_time.of(db)
        trust = await authority.trust(db, Keyring.parse(key), now)
        async with db.transaction() as tx:
            _, token = await join_tokens.issue(
                tx,
                trust,
                team_id=None,
                locations=settings.locations,
                now=now,
                uses=settings.workers,
                life=join_tokens.LONGEST,
                # Locations of the demonstration have probes that exist nowhere else.
                may_stand_in=settings.demo != DEMO_WORLD,
            )
    finally:
        await db.close()
    return token


def _room(workers: int) -> dict[str, str]:
    """Server settings for this many collectors: enough connections for all of them."""
    more = (CONNECTIONS + PING_CONNECTIONS + WATCH_CONNECTIONS) * (workers - 1)
    return {"max_connections": str(40 + more)} if more else {}


def _reachable(listen: str) -> str:
    """The local address of a server that listens there."""
    host, port = address(listen)
    near = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared with, not bound
    return f"[{near}]:{port}" if ":" in near else f"{near}:{port}"
