"""1,000 monitors go down in one second, and 500 receivers stall: ``python -m tests.bench.storm``."""

import asyncio
import re
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import psutil
import structlog
import uvloop

from collector.alerts.jobs.evaluator import Evaluator
from collector.alerts.jobs.watch import Watch
from collector.alerts.service import rules
from collector.evaluation.writer import ResultWriter
from collector.events.storage import events
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.platform.access import Actor
from collector.platform.committed_events import commit_hook
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from shared import ids
from shared.clock import utc_now
from shared.loop import forever
from shared.results import Status
from tests.bench.database import database
from tests.bench.figures import Figure
from tests.bench.receivers import Receivers, receivers
from tests.bench.writer import cpu_s
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world
from tests.events.payloads import payload_of
from tests.notifications.ground import KEYRING, PUBLIC_URL, make_any

MONITORS = 1_000
CHANNELS = 5
STALLING = 500
SENT_TO_EACH = 8
OTHERS = 600
_OTHERS_GAP_S = 0.02
_TYPES = ("slack", "discord", "telegram", "pagerduty", "opsgenie", "webhook")
_NUMBER = re.compile(rb"n=(\d+);")
_WAIT_S = 120


@dataclass(slots=True)
class Storm:
    """Seconds after the results that confirm it were handed in; *cpu* of all, PostgreSQL's part included.

    *cpu_queued*: what was spent of it when all were queued, which on a busy machine says more than the clock.
    """

    queued: float
    cpu_queued: float
    first: float
    last: float
    cpu: float


@dataclass(slots=True)
class Parts:
    """A collector's, from its results to its deliveries."""

    writer: ResultWriter
    router: Router
    sender: Sender
    watch: Watch
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def listen(self, db: Db) -> None:
        """Be woken by commits, as in the product; a world that is made on *db* listens to them itself."""
        db.pass_on = commit_hook(self.router.bell.ring, self.sender.bell.ring)


def run() -> Iterator[Figure]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    for name, type_ in (("webhooks", "webhook"), ("chats by a rule", "slack")):
        storm = uvloop.run(_storm(type_))
        yield Figure(f"storm, 5,000 to {name} are queued after", storm.queued, "s", at_most=1)
        yield Figure(f"storm, CPU until 5,000 to {name} are queued", storm.cpu_queued, "s")
        yield Figure(f"storm, first of 5,000 to {name}", storm.first, "s", at_most=2)
        yield Figure(f"storm, last of 5,000 to {name}", storm.last, "s")
        yield Figure(f"storm, CPU of 5,000 to {name}", storm.cpu, "s")
    late = uvloop.run(_beside_stalling())
    yield Figure(f"beside {STALLING} that stall, 99th percentile", _p99(late), "s", at_most=1)


async def _storm(type_: str) -> Storm:
    with receivers() as at:
        async with database() as db, _at_work(db) as parts:
            world = await make_world(db, monitors=MONITORS)
            parts.listen(db)
            await world.run("UPDATE monitors SET updated_at = updated_at - interval '1 day'")
            made = [await make_any(db, world.team_id, type_, at.good) for _ in range(CHANNELS)]
            if type_ != "webhook":
                who = Actor(world.team_id, None, "Bench")
                named = [ids.show("chan", id_) for id_ in made]
                await rules.create(db, who, {"name": "Down", "channels": named}, utc_now())
            await world.run("ANALYZE")
            await parts.watch.turn()
            return await _go_down(world, parts, at)


async def _go_down(world: World, parts: Parts, at: Receivers) -> Storm:
    server = psutil.Process(await world.value("SELECT pg_backend_pid()")).parent()
    assert server is not None
    keys = sorted(world.assignments)
    bad = [Status.DOWN] * len(keys)
    for _ in range(2):
        await parts.writer.submit(world.batch_of(keys, bad))
    before, start = cpu_s(server), time.monotonic()
    await parts.writer.submit(world.batch_of(keys, bad))
    queued = await _until(lambda: _count(world.db))
    cpu_queued = cpu_s(server) - before
    arrived: list[float] = []

    async def taken() -> int:
        arrived.extend(moment for moment, _ in at.arrived())
        return len(arrived)

    await _until(taken)
    spent = cpu_s(server) - before
    return Storm(queued - start, cpu_queued, min(arrived) - start, max(arrived) - start, spent)


async def _until(count: Callable[[], Awaitable[int]]) -> float:
    """When as many as are expected were counted."""
    deadline = time.monotonic() + _WAIT_S
    while await count() < MONITORS * CHANNELS:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    return time.monotonic()


async def _count(db: Db) -> int:
    async with db.connection() as tx:
        found: int = await tx.fetchval("SELECT count(*) FROM deliveries")
    return found


async def _beside_stalling() -> Sequence[float]:
    with receivers() as at:
        async with database() as db, _at_work(db) as parts:
            world = await make_world(db)
            parts.listen(db)
            team = world.team_id
            types = [_TYPES[number % len(_TYPES)] for number in range(STALLING)]
            stalled = [await make_any(db, team, type_, at.stalling) for type_ in types]
            good = [await make_any(db, team, type_, at.good) for type_ in _TYPES]
            for _ in range(SENT_TO_EACH):
                await _tell(db, team, stalled, 0)
            await asyncio.sleep(1)
            told = {}
            for number in range(1, OTHERS + 1):
                told[number] = await _tell(db, team, [good[number % len(good)]], number)
                await asyncio.sleep(_OTHERS_GAP_S)
            await asyncio.sleep(2)
            return [moment - told[_number(body)] for moment, body in at.arrived()]


async def _tell(db: Db, team: int, channels: Sequence[UUID], number: int) -> float:
    """An event for these channels; when it was committed."""
    payload = {"event": "alert.fired", "monitor": {"name": f"n={number};"}}
    async with db.transaction() as tx:
        event = events.Event(team, ids.uuid7(), "alert.fired", payload_of(payload), None, channels)
        await events.append_all(tx, [event], utc_now())
    return time.monotonic()


@asynccontextmanager
async def _at_work(db: Db) -> AsyncIterator[Parts]:
    transport, since = Transport(allow_private=True), utc_now() - timedelta(hours=1)
    sender = Sender(db, KEYRING, transport, public_url=PUBLIC_URL, now=utc_now)
    evaluator = Evaluator(db, now=utc_now)
    router = Router(db, evaluator.bell.ring)
    watch = Watch(db)
    writer = ResultWriter(db, clock=GivenClock(utc_now, lambda: since), watch=watch)
    idle = timedelta(seconds=1)
    loops = [
        asyncio.create_task(forever("writer", writer.turn, timedelta(milliseconds=10))),
        asyncio.create_task(forever("router", router.turn, idle, router.bell)),
        asyncio.create_task(forever("rules", evaluator.turn, idle, evaluator.bell)),
        asyncio.create_task(forever("sender", sender.turn, idle, sender.bell)),
    ]
    try:
        yield Parts(writer, router, sender, watch, loops)
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await sender.close(grace_s=0.1)
        await transport.close()


def _number(body: bytes) -> int:
    match = _NUMBER.search(body)
    assert match is not None
    return int(match[1])


def _p99(values: Sequence[float]) -> float:
    assert len(values) == OTHERS, len(values)
    return statistics.quantiles(values, n=100)[98]


if __name__ == "__main__":
    for figure in run():
        print(figure)
