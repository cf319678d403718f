"""10,000 subscribers of a status page mailed while alerts go out: ``python -m tests.bench.page_mails``."""

import asyncio
import multiprocessing
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import structlog
import uvloop

from collector.events.storage import events
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from tests.bench import delivery
from tests.bench.database import database
from tests.bench.figures import Figure
from tests.events.payloads import payload_of
from tests.notifications.ground import make_channel, make_team
from tests.receiver import Receiver, receiving
from tests.status_pages.page_ground import at_work, left, mails, make_page, publish, subscribe

SUBSCRIBERS = 10_000
ALERTS = 200
AT_ONCE = 16


def run() -> Iterator[Figure]:
    """How long mails take, and alerts beside them; none of the figures has a bound."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    with _mail_server() as port:
        quiet, busy, wall_s, cpu_s = uvloop.run(_measure(port))
    yield Figure("page mails, handed in a second", SUBSCRIBERS / wall_s, "/s")
    yield Figure("page mails, CPU of the collector for each", cpu_s / SUBSCRIBERS * 1000, "ms")
    yield Figure("page mails, alert picked up meanwhile, median", statistics.median(busy) * 1000, "ms")
    yield Figure("page mails, alert picked up meanwhile, 99th percentile", _p99(busy) * 1000, "ms")
    yield Figure("page mails, alert picked up without them, 99th percentile", _p99(quiet) * 1000, "ms")


async def _measure(port: int) -> tuple[list[float], list[float], float, float]:
    async with database() as db, delivery.at_work(db), receiving() as receiver:
        team = await make_team(db)
        await make_channel(db, team, receiver.url())
        quiet = await _alerts(db, receiver, team, 0)
        who, page = await make_page(db, team)
        await subscribe(db, page, [f"name{number}@example.com" for number in range(SUBSCRIBERS)])
        sender = mails(db, f"smtp://127.0.0.1:{port}?starttls=0", most=AT_ONCE)
        async with at_work(sender):
            start, cpu = time.monotonic(), time.process_time()
            await publish(db, who, page)
            busy = asyncio.create_task(_alerts(db, receiver, team, ALERTS))
            while await left(db):
                await asyncio.sleep(0.1)
            wall_s, cpu_s = time.monotonic() - start, time.process_time() - cpu
        return quiet, await busy, wall_s, cpu_s


async def _alerts(db: Db, receiver: Receiver, team: int, before: int) -> list[float]:
    """How long each of some took, one after the other, from its commit to the receiver."""
    times = []
    for count in range(before + 1, before + ALERTS + 1):
        committed = await _happen(db, team)
        arrived = await receiver.wait_for(count)
        times.append(arrived[-1].at - committed)
        await asyncio.sleep(0.05)
    return times


async def _happen(db: Db, team: int) -> float:
    """A monitor goes down; when that was committed."""
    payload = {"event": "monitor.down", "monitor": {"name": "api"}}
    async with db.transaction() as tx:
        await events.append(tx, team, ids.uuid7(), "monitor.down", payload_of(payload), utc_now())
    return time.monotonic()


@contextmanager
def _mail_server() -> Iterator[int]:
    """One in a process of its own, which takes whatever it gets."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=256)) as listening:
        server = multiprocessing.get_context("fork").Process(target=_serve, args=(listening,), daemon=True)
        server.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.kill()
            server.join()


def _serve(listening: socket.socket) -> None:
    async def serve() -> None:
        await (await asyncio.start_server(_take, sock=listening)).serve_forever()

    uvloop.run(serve())


async def _take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 ready\r\n")
    while line := await reader.readline():
        verb = line[:4].upper()
        if verb == b"DATA":
            writer.write(b"354 go on\r\n")
            while await reader.readline() != b".\r\n":
                pass
        writer.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 fine\r\n")
        if verb == b"QUIT":
            break
    writer.close()


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[98]


if __name__ == "__main__":
    for figure in run():
        print(figure)
