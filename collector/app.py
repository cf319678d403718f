"""Composes a collector: the only module that knows all its parts."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from urllib.parse import urlsplit

import structlog
from aiohttp import web

from collector import bootstrap, first_start
from collector import server as api
from collector.accounts.service.openid import Client, Provider
from collector.alerts.jobs.evaluator import Evaluator
from collector.alerts.jobs.watch import Watch
from collector.background import (
    Loop,
    days_of_results,
    deadman_switch,
    evaluation_loops,
    ingestion_loops,
    notification_loops,
    page_update_loops,
    turning,
    upkeep_loops,
    watch_loops,
)
from collector.console import render
from collector.evaluation.second_opinions import Opinions
from collector.evaluation.storage.locks import INDEX_JOINS
from collector.evaluation.writer import ResultWriter
from collector.events.stream import EventStreamHub
from collector.http.context import Context
from collector.metrics.ingest.intake import Receiving
from collector.metrics.ingest.otlp_grpc import OtlpServer
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.notifications.service.outside_mails import OutsideMails
from collector.ops.job_health import Pulse
from collector.platform.bucket import TeamPlan, plans
from collector.platform.clock_guard import ClockGuard
from collector.platform.committed_events import commit_hook
from collector.platform.database_clock import DatabaseClock
from collector.platform.mailer import Mailer
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage import liveness
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from collector.platform.storage.shares import CONNECTIONS, PING_CONNECTIONS, Shares, shares
from collector.platform.transport import Transport
from collector.ports import demand_free
from collector.probes.jobs.probes import Probes
from collector.probes.sessions.certificates import ServerCredentials
from collector.probes.sessions.sessions import Sessions
from collector.warm_connections import warm
from collector.web3.service.nodes import Nodes
from shared import rpc_urls
from shared.clock import utc_now
from shared.errors import CannotStart
from shared.loop import Bell
from shared.service_manager import ServiceManager
from shared.setting_table import DEMO_FEW, DEMO_WORLD, TABLE, address
from shared.settings import CollectorSettings, variables
from shared.watchdog import Watchdog

log = structlog.get_logger()

# Requests and batches create few cycles: less frequent collection makes each one worthwhile.
_COLLECT_AFTER = (10_000, 20, 20)


async def run(settings: CollectorSettings, *, shared_ports: bool = False) -> int:
    """Run until SIGTERM or SIGINT; *shared_ports*: share the ports with other workers.

    Raises BadSettings and CannotStart before anything listens.
    """
    assert settings.database_url is not None  # noqa: S101 - required when settings are read
    assert settings.secret_key is not None  # noqa: S101 - likewise
    stop = asyncio.Event()
    watchdog = Watchdog()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    keyring = Keyring.parse(settings.secret_key)
    if not await _unless_stopped(migrate(settings.database_url, utc_now()), stop):
        return 0
    async with AsyncExitStack() as stack:
        # In a thread, while this one mostly waits for the database.
        pages = asyncio.create_task(asyncio.to_thread(render.compile_first_pages))
        db, own = await _databases(stack, settings.database_url)
        clock = DatabaseClock(own.requests.quick)
        await clock.turn()
        await bootstrap.check_keys(db, keyring, clock.now())
        if not shared_ports:
            demand_free(settings)
        made = await first_start.prepare(db, settings)
        greets = made is not None or not shared_ports
        way_in = await first_start.way_in(db, settings, clock.now()) if greets else None
        if made is not None and settings.demo == DEMO_WORLD:
            world = first_start.fill_world(own.upkeep, keyring, settings, made, clock.now())
            if not await _unless_stopped(world, stop):
                log.error("the demonstration is incomplete: begin again with an empty database")
                return 0
        await pages
        pulse = Pulse()
        work = _working(own, clock, keyring, settings, pulse, shared_ports=shared_ports)
        context = await stack.enter_async_context(work)
        mailer = _mailer(own.telling, settings)
        news = page_update_loops(own.telling, clock, keyring, settings, context.transport, mailer, pulse)
        await stack.enter_async_context(news)
        await stack.enter_async_context(deadman_switch(own.upkeep, clock, settings, pulse))
        if made is not None and settings.demo == DEMO_FEW:
            await first_start.demonstrate(context, settings, made.team_id)
        if greets:
            first_start.greet(settings, way_in, sys.stdout, first=made is not None)
        log.info("collector ready", http=settings.http_listen, grpc=settings.grpc_listen, pid=os.getpid())
        with ServiceManager(variables()).working():
            await stop.wait()
        log.info("collector stopping")
    watchdog.stop()
    return 0


async def _databases(stack: AsyncExitStack, url: str) -> tuple[Db, Shares]:
    """Open and warm the connections of this process; *stack* closes them."""
    db = await Db.open(url, size=CONNECTIONS, name="tocsin collector", kept=True)
    stack.push_async_callback(db.close)
    ordered = await Db.open(url, size=PING_CONNECTIONS, name="tocsin pings", settings=INDEX_JOINS)
    stack.push_async_callback(ordered.close)
    await warm(db, CONNECTIONS)
    await stack.enter_async_context(liveness.watched(url, db.activity, ordered.activity))
    return db, shares(db, ordered)


async def _unless_stopped(long: Awaitable[object], stop: asyncio.Event) -> bool:
    """Do what may take long; return whether it finished before a stop was requested."""
    work, stopped = asyncio.ensure_future(long), asyncio.ensure_future(stop.wait())
    await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
    for task in (work, stopped):
        task.cancel()
    await asyncio.wait({work, stopped})
    if not work.cancelled():
        work.result()
    return not work.cancelled()


def _settle() -> None:
    """Exempt the existing objects from garbage collection: scanning them repeatedly would block the loop."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


@asynccontextmanager
async def _working(
    own: Shares,
    clock: DatabaseClock,
    keyring: Keyring,
    settings: CollectorSettings,
    pulse: Pulse,
    *,
    shared_ports: bool,
) -> AsyncIterator[Context]:
    """Run all parts. They stop in an order that loses nothing: receivers, evaluation, notification."""
    signals, public_url = Signals(own.sessions), settings.public_url.rstrip("/")
    transport, alerts = _transport(own.telling, settings), _transport(own.telling, settings)
    sender = Sender(own.telling, keyring, alerts, public_url=settings.public_url, now=clock.now)
    following = EventStreamHub(own.requests, public_url=public_url, now=clock.now)
    evaluator = Evaluator(own.telling, now=clock.now)
    router = Router(own.telling, evaluator.bell.ring)
    own.requests.pass_on = commit_hook(partial(_ring, router.bell, following.bell, signals), sender.bell.ring)
    guard, watch = ClockGuard(clock), Watch(own.ingest)
    opinions = Opinions(own.ingest, signals, clock=clock)
    writer, evaluation = evaluation_loops(own.ingest, clock, guard, opinions, watch)
    pings, series, ingestion = ingestion_loops(
        own.ingest, clock, keyring, guard, opinions, watch, own.ordered
    )
    nodes = rpc_urls.parse(settings.rpc_urls) if settings.rpc_urls else {}
    sessions, probe_loops = _for_probes(own.sessions, clock, keyring, settings, guard, signals, writer, nodes)
    context = _context(own.requests, clock, keyring, settings, signals, transport, nodes)
    features = api.Features(following=following, pings=pings.take, metrics=series, openid=_openid(settings))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(transport.close)
        stack.push_async_callback(alerts.close)
        days = await days_of_results(own.upkeep, clock, settings)
        stack.push_async_callback(sender.close)
        await stack.enter_async_context(
            turning(
                pulse,
                ("signals", partial(_hear, signals, following), 1.0, signals.bell),
                ("signals of others", signals.listen, 1.0, None),
                *notification_loops(router, evaluator, sender),
                *evaluation,
                *ingestion,
                *probe_loops,
                first_start.link_file(own.upkeep, settings, clock.now),
                *first_start.live_world(own.ingest, settings, clock.now),
                *watch_loops(own.ingest, clock, guard, opinions),
                *upkeep_loops(own.upkeep, clock, keyring, settings, days, transport),
            )
        )
        await _open(stack, settings, sessions, series, api.make(context, features), shared_ports=shared_ports)
        stack.push_async_callback(following.close)
        yield context


def _for_probes(
    db: Db,
    clock: DatabaseClock,
    keyring: Keyring,
    settings: CollectorSettings,
    guard: ClockGuard,
    signals: Signals,
    writer: ResultWriter,
    nodes: Nodes,
) -> tuple[Sessions, Sequence[Loop]]:
    """The probe sessions, and the loops that assign monitors to probes."""
    probes = Probes(db, signals, guard)
    credentials = ServerCredentials(db, keyring, names=_names(settings), now=clock.now)
    sessions = Sessions(
        db, writer, signals, keyring, credentials, changed=probes.bell.ring, now=clock.now, nodes=nodes
    )
    return sessions, (
        ("probes", probes.turn, 1.0, probes.bell),
        ("sessions", sessions.turn, 1.0, sessions.bell),
        ("credentials", credentials.turn, 30.0, None),
    )


async def _open(
    stack: AsyncExitStack,
    settings: CollectorSettings,
    sessions: Sessions,
    series: Receiving,
    application: web.Application,
    *,
    shared_ports: bool,
) -> None:
    """Listen for probes, metrics and requests; *stack* closes these in the opposite order."""
    _settle()  # not in the middle of the first requests
    stack.push_async_callback(sessions.stop)
    stack.push_async_callback((await _listen(series, settings, shared_ports=shared_ports)).stop)
    await sessions.start(settings.grpc_listen, shared_port=shared_ports)
    runner = await api.serve(application, settings.http_listen, shared_port=shared_ports)
    stack.push_async_callback(runner.cleanup)


def _transport(db: Db, settings: CollectorSettings) -> Transport:
    return Transport(allow_private=settings.allow_private_targets, mailer=_mailer(db, settings))


def _mailer(db: Db, settings: CollectorSettings) -> Mailer | None:
    """The mailer, if configured; the default sender uses the host of the public URL."""
    if settings.smtp_url is None:
        return None
    host = urlsplit(settings.public_url).hostname or "localhost"
    outside = OutsideMails(db, _plans(settings), confirm=settings.confirm_addresses)
    return Mailer(
        settings.smtp_url,
        settings.mail_from or f"Tocsin <tocsin@{host}>",
        admit=outside.held,
        confirms=settings.confirm_addresses,
    )


def _plans(settings: CollectorSettings) -> Mapping[str, TeamPlan]:
    return plans(
        settings.rate_per_minute,
        settings.burst,
        monitors=settings.max_monitors,
        channels=settings.max_channels,
        streams=settings.max_streams,
        mails_per_hour=settings.mails_per_hour,
    )


def _openid(settings: CollectorSettings) -> Provider | None:
    """The OpenID provider, if configured."""
    if settings.oidc_issuer is None or settings.oidc_client_id is None:
        return None
    client = Client(
        settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret or "", settings.oidc_name
    )
    return Provider(client, f"{settings.public_url.rstrip('/')}/sign-in/oidc/callback")


def _names(settings: CollectorSettings) -> list[str]:
    """The host names of the probes' endpoint: local ones, and the configured ones."""
    host, _ = address(settings.grpc_listen)
    return list(dict.fromkeys([*(settings.grpc_names or ()), host, "localhost", "127.0.0.1", "::1"]))


async def _listen(series: Receiving, settings: CollectorSettings, *, shared_ports: bool) -> OtlpServer:
    """Listen for OTLP; the default port may be taken, often by an agent, a configured one must be free."""
    otlp = OtlpServer(series)
    try:
        await otlp.start(settings.otlp_listen, shared_port=shared_ports)
    except CannotStart as error:
        if settings.otlp_listen != TABLE["otlp_listen"].default():
            raise
        log.warning("OTLP over gRPC disabled", reason=str(error))
    return otlp


def _reached(settings: CollectorSettings, listen: str) -> str:
    """The public address of *listen*: its port at the host of all other links."""
    host = urlsplit(settings.public_url).hostname or "localhost"
    return f"{f'[{host}]' if ':' in host else host}:{listen.rpartition(':')[2]}"


def _context(
    db: Db,
    clock: DatabaseClock,
    keyring: Keyring,
    settings: CollectorSettings,
    signals: Signals,
    transport: Transport,
    nodes: Nodes,
) -> Context:
    return Context(
        db=db,
        keyring=keyring,
        signals=signals,
        transport=transport,
        public_url=settings.public_url.rstrip("/"),
        min_interval=settings.min_interval,
        now=clock.now,
        hosts=settings.hosts or (),
        trusted_proxies=settings.trusted_proxies,
        cors_origins=frozenset(settings.cors_origins),
        plans=_plans(settings),
        otlp_url=f"http://{_reached(settings, settings.otlp_listen)}",
        probes_at=_reached(settings, settings.grpc_listen),
        nodes=nodes,
    )


def _ring(*bells: Bell | Signals) -> None:
    """Wake everyone who waits for committed changes."""
    for bell in bells:
        bell.ring()


async def _hear(signals: Signals, following: EventStreamHub) -> bool:
    """A turn of *signals*, whose bell also announces other collectors' events."""
    following.bell.ring()
    return await signals.turn()
