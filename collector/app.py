"""Puts a collector together: the only file that knows all its parts."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial

import structlog

from collector import first_start
from collector.alerting.router import Router
from collector.api import app as api
from collector.api.deps import Deps
from collector.channels.transport import Transport
from collector.core.seal import Keyring
from collector.delivery.sender import Sender
from collector.ingest.credentials import Credentials
from collector.ingest.sessions import Sessions
from collector.ingest.steady import Steady
from collector.ingest.verdicts import Verdicts
from collector.ingest.writer import Writer
from collector.services import bootstrap
from collector.services.following import Following
from collector.services.signals import Signals
from collector.storage.db import Db
from collector.storage.migrate import migrate
from collector.sweeper.days import Days
from collector.sweeper.holds import Holds
from collector.sweeper.probes import Probes
from collector.sweeper.reopening import Reopening
from collector.sweeper.retention import Retention
from collector.sweeper.rollups import Rollups
from shared.clock import utc_now
from shared.errors import BadSettings
from shared.loop import Bell, forever
from shared.setting_table import address
from shared.settings import CollectorSettings

log = structlog.get_logger()

Turn = Callable[[], Awaitable[bool]]

_CONNECTIONS = 10


async def run(settings: CollectorSettings) -> int:
    """Run until SIGTERM or SIGINT. Raises BadSettings and CannotStart before anything listens."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if settings.database_url is None or settings.secret_key is None:
        raise BadSettings(
            "TOCSIN_DATABASE_URL: is required by a collector; `tocsin up` brings its own database"
        )
    keyring = Keyring.parse(settings.secret_key)
    await migrate(settings.database_url, utc_now())
    async with AsyncExitStack() as stack:
        db = await Db.open(settings.database_url, size=_CONNECTIONS, name="tocsin collector")
        stack.push_async_callback(db.close)
        await bootstrap.check_keys(db, keyring, utc_now())
        made = await first_start.prepare(db, settings)
        deps = await stack.enter_async_context(_working(db, keyring, settings))
        if made is not None:
            if settings.demo:
                await first_start.demonstrate(deps, settings, made.team_id)
            first_start.greet(settings)
        log.info("collector ready", http=settings.http_listen, grpc=settings.grpc_listen, pid=os.getpid())
        await stop.wait()
        log.info("collector stops")
    return 0


@asynccontextmanager
async def _working(db: Db, keyring: Keyring, settings: CollectorSettings) -> AsyncIterator[Deps]:
    """All parts at work. They end in the order that loses nothing: who brings, who decides, who tells."""
    signals = Signals(db)
    transport = Transport(allow_private=settings.allow_private_targets)
    sender = Sender(db, keyring, transport, public_url=settings.public_url, now=utc_now)
    router = Router(db, sender.bell.ring)
    following = Following(db, public_url=settings.public_url.rstrip("/"), now=utc_now)
    happened = partial(_ring, router.bell, following.bell, signals)
    steady = Steady(utc_now)
    writer = Writer(db, since=steady.since, now=utc_now, tell=happened)
    verdicts = Verdicts(db, since=steady.since, now=utc_now, tell=happened)
    probes = Probes(db, signals, since=steady.since, now=utc_now)
    credentials = Credentials(db, keyring, names=_names(settings), now=utc_now)
    sessions = Sessions(db, writer, signals, keyring, credentials, changed=probes.bell.ring, now=utc_now)
    days = Days(db, keep=timedelta(days=settings.retention_days), now=utc_now)
    rollups = Rollups(db, now=utc_now)
    retention = _retention(db, settings)
    holds = Holds(db, now=utc_now, tell=happened)
    deps = _deps(db, keyring, settings, signals, following, transport)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(transport.close)
        await days.turn()
        stack.push_async_callback(sender.close)
        await stack.enter_async_context(
            _turning(
                ("signals", partial(_hear, signals, following), 1.0, signals.bell),
                ("signals of others", signals.listen, 1.0, None),
                ("days", days.turn, 300.0, None),
                ("rollups", rollups.turn, 30.0, None),
                ("retention", retention.turn, 900.0, None),
                ("holds", holds.turn, 1.0, None),
                ("reopening", Reopening(db, now=utc_now).turn, 10.0, None),
                ("router", router.turn, 1.0, router.bell),
                ("sender", sender.turn, 1.0, sender.bell),
                ("writer", writer.turn, 0.05, None),
                ("verdicts", verdicts.turn, 5.0, None),
                ("probes", probes.turn, 2.0, probes.bell),
                ("sessions", sessions.turn, 2.0, None),
                ("credentials", credentials.turn, 30.0, None),
            )
        )
        stack.push_async_callback(sessions.stop)
        await sessions.start(settings.grpc_listen)
        runner = await api.serve(api.make(deps), settings.http_listen)
        stack.push_async_callback(runner.cleanup)
        stack.push_async_callback(following.close)
        yield deps


def _names(settings: CollectorSettings) -> list[str]:
    """Under which probes reach us: from this machine always, from others as the operator says."""
    host, _ = address(settings.grpc_listen)
    return list(dict.fromkeys([*(settings.grpc_names or ()), host, "localhost", "127.0.0.1", "::1"]))


def _retention(db: Db, settings: CollectorSettings) -> Retention:
    return Retention(
        db,
        keep=timedelta(days=settings.retention_days),
        keep_rollups=timedelta(days=settings.rollup_retention_days),
        now=utc_now,
    )


def _deps(
    db: Db,
    keyring: Keyring,
    settings: CollectorSettings,
    signals: Signals,
    following: Following,
    transport: Transport,
) -> Deps:
    return Deps(
        db=db,
        keyring=keyring,
        signals=signals,
        following=following,
        transport=transport,
        public_url=settings.public_url.rstrip("/"),
        min_interval=settings.min_interval,
        now=utc_now,
    )


def _ring(*bells: Bell | Signals) -> None:
    """Something happened and is committed: wake all who go by it."""
    for bell in bells:
        bell.ring()


async def _hear(signals: Signals, following: Following) -> bool:
    """A turn of *signals*, whose bell the other collectors ring for their events too."""
    following.bell.ring()
    return await signals.turn()


@asynccontextmanager
async def _turning(*loops: tuple[str, Turn, float, Bell | None]) -> AsyncIterator[None]:
    """Background work, each by its name, its turn, its rest in seconds, and what wakes it."""
    tasks = [
        asyncio.create_task(forever(name, turn, timedelta(seconds=rest), bell), name=name)
        for name, turn, rest, bell in loops
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
