"""From an event to its webhook's arrival, quiet and in a storm: ``python -m tests.bench.delivery``."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta

import structlog
import uvloop

from collector.events.storage import events
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.platform.committed_events import commit_hook
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from shared import ids
from shared.clock import utc_now
from shared.loop import forever
from tests.bench.database import database
from tests.bench.figures import Figure
from tests.events.payloads import payload_of
from tests.notifications.ground import KEYRING, PUBLIC_URL, make_channel, make_team
from tests.receiver import Receiver, answer, receiving

ONE_BY_ONE = 500
MONITORS = 1_000
CHANNELS = 5
RETRIES = 100


def run() -> Iterator[Figure]:
    """How long deliveries take; none of the figures has a bound."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    quiet, late, storm = uvloop.run(_measure())
    yield Figure("delivery, pick-up at the 99th percentile", _p99(quiet) * 1000, "ms")
    yield Figure("delivery, first retry late at the 99th percentile", _p99(late) * 1000, "ms")
    yield Figure("delivery, first of 5,000", storm[0], "s")
    yield Figure("delivery, last of 5,000", storm[1], "s")


async def _measure() -> tuple[list[float], list[float], tuple[float, float]]:
    async with database() as db, at_work(db):
        async with receiving() as receiver:
            quiet = await _one_by_one(db, receiver)
        async with receiving(*[answer(500)] * RETRIES) as receiver:
            late = await _retries(db, receiver)
        async with receiving() as receiver:
            storm = await _storm(db, receiver)
    return quiet, late, storm


async def _one_by_one(db: Db, receiver: Receiver) -> list[float]:
    team, times = await _team(db, receiver, channels=1), []
    for count in range(1, ONE_BY_ONE + 1):
        times.append(-await _happen(db, team, 1))
        times[-1] += (await receiver.wait_for(count))[-1].at
    return times


async def _retries(db: Db, receiver: Receiver) -> list[float]:
    team = await _team(db, receiver, channels=RETRIES)
    await _happen(db, team, 1)
    arrived: dict[str, list[float]] = {}
    for request in await receiver.wait_for(2 * RETRIES):
        arrived.setdefault(request.headers["x-service-delivery"], []).append(request.at)
    return [second - first - 1 for first, second in arrived.values()]


async def _storm(db: Db, receiver: Receiver) -> tuple[float, float]:
    team = await _team(db, receiver, channels=CHANNELS)
    start = await _happen(db, team, MONITORS)
    arrived = await receiver.wait_for(MONITORS * CHANNELS, 120)
    return arrived[0].at - start, arrived[-1].at - start


async def _team(db: Db, receiver: Receiver, channels: int) -> int:
    team = await make_team(db)
    for number in range(channels):
        await make_channel(db, team, receiver.url(f"/{number}"))
    return team


async def _happen(db: Db, team: int, monitors: int) -> float:
    """As many monitors go down in one transaction; when it was committed."""
    payload = {"event": "monitor.down", "monitor": {"name": "api"}}
    async with db.transaction() as tx:
        facts = [
            events.Event(team, ids.uuid7(), "monitor.down", payload_of(payload)) for _ in range(monitors)
        ]
        await events.append_all(tx, facts, utc_now())
    return time.monotonic()


@asynccontextmanager
async def at_work(db: Db) -> AsyncIterator[None]:
    """Events go to channels until the end of the block."""
    transport = Transport(allow_private=True)
    sender = Sender(db, KEYRING, transport, public_url=PUBLIC_URL, now=utc_now)
    router = Router(db)
    db.pass_on = commit_hook(router.bell.ring, sender.bell.ring)
    idle = timedelta(seconds=1)
    loops = [
        asyncio.create_task(forever("sender", sender.turn, idle, sender.bell)),
        asyncio.create_task(forever("router", router.turn, idle, router.bell)),
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await sender.close()
        await transport.close()


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


if __name__ == "__main__":
    for figure in run():
        print(figure)
