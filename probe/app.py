"""Composes a probe: the only module that knows all its parts."""

import asyncio
import contextlib
import gc
import platform
import signal
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

import structlog

from probe.blackbox import MOST_MONITORS, Board
from probe.checks import TYPES
from probe.link import credentials
from probe.link.assignments import Assignments
from probe.link.enrol import CredentialKeeper, lack
from probe.link.plan import Plan, ProbeAssignment
from probe.link.releases import Releases
from probe.link.session import Identity, Session
from probe.metrics import serving, write
from probe.net.engine import Net
from probe.schedule.canaries import ask, finder
from probe.schedule.certificate_ends import CertificateEnds
from probe.schedule.egress import Egress
from probe.schedule.prepared import check_of
from probe.schedule.runner import CheckRun, run
from probe.schedule.scheduler import Scheduler
from probe.schedule.stopped import StoppedChecks, marked
from probe.schedule.workers import CheckRunner
from probe.spool.batches import Batcher
from probe.spool.spool import Spool
from shared.certificates import Passport
from shared.clock import utc_now
from shared.errors import BadSettings, CannotStart
from shared.loop import Bell, forever
from shared.results import Status
from shared.service_manager import ServiceManager
from shared.settings import ProbeSettings, variables
from shared.watchdog import Watchdog

log = structlog.get_logger()

_HOME: Final = "probe"  # within the data directory
_SYNC_EVERY: Final = timedelta(seconds=1)
# At most, a stop takes these two and little more.
_CHECKS_END_S: Final = 4.0
_SENDING_ENDS_S: Final = 3.0
_LOOK_EVERY: Final = timedelta(seconds=1)
_RENEW_EVERY: Final = timedelta(seconds=30)
# Only failed checks leave cycles behind: less frequent collection saves a seventh of all work.
COLLECT_AFTER: Final = (20_000, 20, 20)


async def serve(settings: ProbeSettings) -> int:
    """Run a probe until SIGTERM or SIGINT."""
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    home = settings.data_dir / _HOME
    spool = Spool(home / "spool")
    wanted = _wanted(settings.locations, settings.location)
    keeper = CredentialKeeper(
        home, settings.collector, token=settings.join_token, locations=wanted, now=utc_now
    )
    stopped = StoppedChecks(home / "stopped")
    watchdog = Watchdog(stopped.path)
    try:
        if await _begun(keeper, stop):
            await _work(settings, keeper, spool, stopped, watchdog, stop)
    finally:
        spool.close()
        watchdog.stop()
    log.info("probe stopped")
    return 0


def lacks(values: Mapping[str, Any]) -> Iterator[str]:
    """Settings that are missing, depending on whether the probe has a certificate."""
    if "data_dir" not in values or values.get("join_token", "unreadable"):
        return
    try:
        kept = credentials.load(values["data_dir"] / _HOME)
    except (CannotStart, OSError):  # reported when it is loaded; no setting can fix it
        return
    reason = lack(kept, _wanted(values.get("locations"), values.get("location")), utc_now())
    if reason is not None:
        yield str(reason) if isinstance(reason, BadSettings) else f"TOCSIN_JOIN_TOKEN: {reason}"


async def _begun(keeper: CredentialKeeper, stop: asyncio.Event) -> bool:
    """Wait for a certificate, or until the probe is stopped."""
    beginning = asyncio.create_task(keeper.begin())
    await _first(stop, beginning)
    begun = beginning.done()
    await _end(beginning, 0)
    return begun


async def _work(
    settings: ProbeSettings,
    keeper: CredentialKeeper,
    spool: Spool,
    stopped: StoppedChecks,
    watchdog: Watchdog,
    stop: asyncio.Event,
) -> None:
    me = _identity(settings, keeper.current.passport)
    net = Net(allow_private=settings.allow_private_targets, in_check=watchdog.check)
    log.info("probe starts", probe=str(me.probe_id), locations=me.locations, tls=net.trust.library)
    # An operator's canaries may be in networks where targets may not be.
    own = Net()
    egress = Egress(finder(settings.canaries), partial(ask, net=own))
    bell = Bell()
    board, ends = Board(MOST_MONITORS if settings.metrics_listen else 0), CertificateEnds()

    def keep(incarnation: int, seq: int, results: int, data: bytes) -> None:
        spool.append(incarnation, seq, results, data)
        bell.ring()

    batcher = Batcher(keep)
    check = checks_of(net, egress, board, ends, watchdog.check)
    scheduler = Scheduler(check, batcher.add, max_concurrency=settings.max_concurrency)
    releases = Releases(scheduler, batcher, bell)
    plan = Plan(Assignments(scheduler, releases, (board, ends)), stopped)
    session = Session(
        me,
        settings.collector,
        keeper,
        spool=spool,
        batcher=batcher,
        plan=plan,
        scheduler=scheduler,
        releases=releases,
        bell=bell,
        sight=egress,
        stopped=stopped.monitors,
    )
    metrics = partial(write, scheduler, spool, plan, session, egress, board)
    async with serving(settings.metrics_listen, metrics):
        turning = _turning(egress, keeper, spool)
        talking = asyncio.create_task(session.run())
        with ServiceManager(variables()).working():
            await _first(stop, talking)
    await scheduler.stop(_CHECKS_END_S)
    batcher.seal()
    session.stop()
    await _end(talking, _SENDING_ENDS_S)
    await _end_all(turning, net, own)


def _turning(egress: Egress, keeper: CredentialKeeper, spool: Spool) -> "list[asyncio.Task[None]]":
    """The background loops, in the order in which they end."""
    turns = (
        forever("egress", egress.turn, _LOOK_EVERY, egress.bell),
        forever("certificate", keeper.turn, _RENEW_EVERY),
        forever("spool", spool.turn, _SYNC_EVERY),
    )
    return [asyncio.create_task(each) for each in turns]


async def _end_all(turning: Sequence["asyncio.Task[None]"], *nets: Net) -> None:
    for task in turning:
        await _end(task, 0)
    for net in nets:
        net.close()


def checks_of(
    net: Net, egress: Egress, board: Board, ends: CertificateEnds, in_check: "memoryview[int]"
) -> CheckRunner:
    """How this probe runs a check: marked in *in_check*, with what is known around it."""

    async def check(assigned: ProbeAssignment) -> CheckRun:
        in_check[0] = mark = assigned.mark
        ran = await marked(in_check, mark, run(check_of(assigned), net, assigned.timeout_s))
        if ran.outcome.status is not Status.UP or egress.blind:
            ran = await egress.downgrade_if_blind(ran)
        if board.most:
            board.note(assigned, ran.outcome, ran.duration_us)
        return ran if ran.outcome.ends is None else ends.with_news(assigned, ran)

    return check


async def _first(stop: asyncio.Event, talking: "asyncio.Task[None]") -> None:
    """Wait for a stop; an unexpected error of the session ends the probe with that error."""
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({stopping, talking}, return_when=asyncio.FIRST_COMPLETED)
    await _end(stopping, 0)
    if talking.done():
        talking.result()


async def _end(task: "asyncio.Task[bool] | asyncio.Task[None]", seconds: float) -> None:
    """Let *task* finish within *seconds*, then cancel it."""
    await asyncio.wait({task}, timeout=seconds)
    if not task.done():
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _wanted(locations: tuple[str, ...] | None, location: str | None) -> tuple[str, ...]:
    """The configured locations of the probe; by default those of its certificate."""
    return locations or ((location,) if location else ())


def _identity(settings: ProbeSettings, passport: Passport) -> Identity:
    return Identity(
        probe_id=passport.probe_id,
        name=platform.node()[:100],
        locations=passport.locations,
        kinds=sorted(TYPES),
        stands_in=settings.stand_in,
    )
