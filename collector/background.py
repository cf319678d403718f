"""The background loops of a collector and their intervals."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

from collector.alerts.jobs.evaluator import Evaluator
from collector.alerts.jobs.watch import Watch
from collector.evaluation.ingest.pushes import Pushes
from collector.evaluation.jobs.certificates import Certificates
from collector.evaluation.jobs.collector_presence import CollectorPresence
from collector.evaluation.jobs.holds import Holds
from collector.evaluation.jobs.recheck import Verdicts
from collector.evaluation.jobs.resolved_while_down import IncidentReopener
from collector.evaluation.jobs.unmeasured import Unmeasured
from collector.evaluation.second_opinions import Opinions
from collector.evaluation.writer import ResultWriter
from collector.heartbeats.ingest import PingReceiver
from collector.heartbeats.jobs import heartbeats as late
from collector.history.jobs.days import DayPartitions
from collector.history.jobs.packing import Packing
from collector.history.jobs.rollups import Rollups
from collector.incidents.jobs.snoozes import Snoozes
from collector.maintenance.jobs.news import MaintenanceNews
from collector.maintenance.jobs.windows import Maintenance
from collector.metrics.ingest.intake import Receiving
from collector.metrics.jobs.agent_metrics import AgentMetrics
from collector.metrics.jobs.series import SeriesSweeper
from collector.notifications.jobs.channel_alarms import ChannelAlarms
from collector.notifications.jobs.confirmations import Confirmations
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.ops.job_health import MeasurementChange, Pulse
from collector.ops.jobs.deadman import Deadman
from collector.ops.jobs.reseal import Resealing
from collector.ops.jobs.retention import Retention
from collector.platform.clock_guard import ClockGuard
from collector.platform.database_clock import DatabaseClock
from collector.platform.mailer import Mailer
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from collector.probes.jobs.watch import ProbeWatch
from collector.reports.jobs.editions import Editions
from collector.reports.jobs.mails import ReportMails
from collector.status_pages.jobs.hooks import PageHooks
from collector.status_pages.jobs.mails import PageMails
from collector.status_pages.jobs.pages import DomainProofs, StatusPages
from collector.status_pages.jobs.sender import PageSender, close_all
from collector.status_pages.service.domains import Prover
from collector.web3.jobs import Web3
from shared.loop import Bell, forever
from shared.settings import CollectorSettings

# Below a mail server's usual limit per client, with some connections left for alerts.
_MAILS_AT_ONCE = 16
_HOOKS_AT_ONCE = 50
# Not watched: a turn that lasts as long as a connection, and the watcher itself.
_UNFELT = frozenset({"signals of others", "deadman"})
# Name, turn, rest in seconds, and the bell that wakes it.
Loop = tuple[str, MeasurementChange, float, Bell | None]


def evaluation_loops(
    db: Db,
    clock: DatabaseClock,
    clock_guard: ClockGuard,
    opinions: Opinions,
    watch: Watch,
) -> tuple[ResultWriter, Sequence[Loop]]:
    """The writer of check results, and the loops that evaluate and announce what they contain."""
    web3 = Web3(db, clock=clock)
    writer = ResultWriter(
        db,
        clock=clock_guard,
        opinions=opinions,
        watch=watch,
        findings=web3.bell,
    )
    return writer, (
        ("rule watch", watch.turn, 1.0, None),
        ("web3", web3.turn, 1.0, web3.bell),
        ("writer", writer.turn, 0.05, None),
    )


def notification_loops(router: Router, evaluator: Evaluator, sender: Sender) -> Sequence[Loop]:
    """From events to notifications."""
    return (
        ("router", router.turn, 1.0, router.bell),
        ("rules", evaluator.turn, 1.0, evaluator.bell),
        ("sender", sender.turn, 1.0, sender.bell),
    )


def ingestion_loops(
    db: Db,
    clock: DatabaseClock,
    keyring: Keyring,
    clock_guard: ClockGuard,
    opinions: Opinions,
    watch: Watch,
    ordered: Db | None,
) -> tuple[PingReceiver, Receiving, Sequence[Loop]]:
    """Receivers of pings and metrics, and the loops that notice missing ones.

    *ordered*: see `PingReceiver`.
    """
    pushes = Pushes(db, clock=clock_guard, opinions=opinions, watch=watch)
    heartbeats = PingReceiver(db, pushes, clock=clock, ordered=ordered)
    series = Receiving(db, keyring, pushes, clock=clock)
    silent = SeriesSweeper(db, series, clock=clock_guard)
    missing = late.HeartbeatSweeper(db, heartbeats, clock=clock_guard)
    loops = (
        ("pushes", pushes.turn, 0.05, None),
        ("pings", heartbeats.turn, 0.05, None),
        ("late pings", missing.turn, 1.0, None),
        ("metrics", series.counting, 0.05, None),
        ("series", series.keeping, 5.0, None),
        ("push limits", series.limiting, 1.0, None),
        ("silent metrics", silent.turn, 1.0, None),
    )
    return heartbeats, series, loops


def watch_loops(db: Db, clock: DatabaseClock, clock_guard: ClockGuard, opinions: Opinions) -> Sequence[Loop]:
    """Loops for changes that time alone causes."""
    probe_watch = ProbeWatch(db, clock_guard)
    verdicts = Verdicts(db, clock=clock_guard, opinions=opinions)
    return (
        ("verdicts", verdicts.turn, 5.0, None),
        ("opinions", opinions.turn, 1.0, opinions.bell),
        ("holds", Holds(db, clock=clock).turn, 1.0, None),
        ("snoozes", Snoozes(db, now=clock.now).turn, 5.0, None),
        ("certificates", Certificates(db, clock=clock).turn, 1.0, None),
        ("maintenance news", MaintenanceNews(db, now=clock.now).turn, 1.0, None),
        ("listening", CollectorPresence(db, clock=clock_guard).turn, 5.0, None),
        ("probe watch", probe_watch.turn, 5.0, None),
        ("unmeasured", Unmeasured(db, clock=clock).turn, 5.0, None),
    )


@asynccontextmanager
async def page_update_loops(
    db: Db,
    clock: DatabaseClock,
    keyring: Keyring,
    settings: CollectorSettings,
    transport: Transport,
    mailer: Mailer | None,
    pulse: Pulse,
) -> AsyncIterator[None]:
    """Sends updates to subscribers of status pages; *mailer* is not shared."""
    public_url = settings.public_url.rstrip("/")
    hooks = PageHooks(keyring, transport, public_url=public_url)
    loops: list[Loop] = []
    senders = [PageSender(db, "webhook", hooks, most=_HOOKS_AT_ONCE, now=clock.now)]
    if mailer is not None:
        mails = PageMails(keyring, mailer, public_url=public_url)
        senders.append(PageSender(db, "mail", mails, most=_MAILS_AT_ONCE, now=clock.now))
        reports = ReportMails(db, mailer, public_url=public_url, now=clock.now)
        loops.append(("report mails", reports.turn, 10.0, None))
        if mailer.confirms:
            confirmations = Confirmations(db, mailer, public_url=public_url)
            loops.append(("confirmations", confirmations.turn, 5.0, None))
    try:
        loops += [(f"page news by {sender.via}", sender.turn, 1.0, sender.bell) for sender in senders]
        async with turning(pulse, *loops):
            yield
    finally:
        await close_all(senders)


@asynccontextmanager
async def deadman_switch(
    db: Db, clock: DatabaseClock, settings: CollectorSettings, pulse: Pulse
) -> AsyncIterator[None]:
    """Pings the configured URL while all loops take their turns."""
    if settings.deadman_url is None:
        yield
        return
    transport = Transport(allow_private=True)
    deadman = Deadman(db, transport, settings.deadman_url, pulse, now=clock.now)
    try:
        async with turning(pulse, ("deadman", deadman.turn, 5.0, None)):
            yield
    finally:
        await transport.close()


async def days_of_results(db: Db, clock: DatabaseClock, settings: CollectorSettings) -> DayPartitions:
    """The manager of daily partitions; the next days' partitions exist when it is returned."""
    keep = timedelta(days=settings.retention_days)
    days = DayPartitions(db, keep=keep, clock=clock)
    await days.prepare()
    return days


def upkeep_loops(
    db: Db,
    clock: DatabaseClock,
    keyring: Keyring,
    settings: CollectorSettings,
    days: DayPartitions,
    transport: Transport,
) -> Sequence[Loop]:
    """Maintenance that no other part waits for."""
    return (
        ("clock", clock.turn, 5.0, None),
        ("days", days.turn, 300.0, None),
        ("rollups", Rollups(db, clock=clock).turn, 30.0, None),
        ("packing", Packing(db, clock=clock).turn, 300.0, None),
        ("retention", _retention(db, clock, settings).turn, 900.0, None),
        ("maintenance", Maintenance(db, now=clock.now).turn, 10.0, None),
        ("flags", ChannelAlarms(db, now=clock.now).turn, 60.0, None),
        ("status pages", StatusPages(db, now=clock.now).turn, 5.0, None),
        ("reports", Editions(db, now=clock.now).turn, 5.0, None),
        ("custom domains", DomainProofs(db, Prover(transport), now=clock.now).turn, 10.0, None),
        ("reopening", IncidentReopener(db, clock=clock).turn, 10.0, None),
        ("resealing", Resealing(db, keyring).turn, 600.0, None),
        ("agent metrics", AgentMetrics(db, clock=clock).turn, 10.0, None),
    )


def _retention(db: Db, clock: DatabaseClock, settings: CollectorSettings) -> Retention:
    return Retention(
        db,
        keep=timedelta(days=settings.retention_days),
        keep_rollups=timedelta(days=settings.rollup_retention_days),
        now=clock.agreed,
    )


@asynccontextmanager
async def turning(pulse: Pulse, *loops: Loop) -> AsyncIterator[None]:
    """Run background loops, tracked by *pulse*."""
    felt = [
        (name, turn if name in _UNFELT else pulse.felt(name, turn, rest), rest, bell)
        for name, turn, rest, bell in loops
    ]
    tasks = [
        asyncio.create_task(forever(name, turn, timedelta(seconds=rest), bell), name=name)
        for name, turn, rest, bell in felt
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
