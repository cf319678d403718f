"""Pings of heartbeats, committed, PostgreSQL included: ``python -m tests.bench.pings``."""

import asyncio
import logging
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count

import psutil
import structlog
import uvloop

from collector.evaluation.storage import collector_presence
from collector.heartbeats.core.heartbeat import PingSchedule
from collector.heartbeats.jobs.heartbeats import HeartbeatSweeper
from collector.monitors.service.receivers import key_hash
from collector.platform.storage.db import Db, Tx
from collector.probes.storage import plans
from shared.clock import utc_now
from shared.ids import uuid7
from tests.bench.api import Served, collector
from tests.bench.database import database
from tests.bench.figures import Figure
from tests.clocks import GivenClock

MONITORS = 5_000
MANY = 100_000
CONNECTIONS = 200
SECONDS = 4.0
RATE = 1_000
TURNS = 60
_COLLECTOR = uuid7()
_ANSWER = b'{"ok":true}'
_PLAN = PingSchedule(timedelta(days=1), "", "UTC", timedelta(minutes=1))


def run() -> Iterator[Figure]:
    """Of a collector of its own: how many by its CPU and PostgreSQL's, how soon, and what watching costs."""
    yield from uvloop.run(_pings())
    yield from uvloop.run(_watching())


@asynccontextmanager
async def pinging(served: Served) -> AsyncIterator[Callable[[float], Awaitable[float]]]:
    """Yield a measurement of so many seconds: pings per CPU-second, PostgreSQL included."""
    requests, cpu = await _requests(served), _Cpu(served)

    async def rate(seconds: float) -> float:
        before = sum(cpu.read())
        took = await _ask(served, requests, seconds, 0)
        return len(took) / (sum(cpu.read()) - before)

    yield rate


async def _requests(served: Served) -> list[bytes]:
    """Make heartbeats; return a ping of each."""
    await _make(served.db, MONITORS)
    return [f"GET /v1/ping/{n} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for n in range(MONITORS)]


async def _pings() -> list[Figure]:
    async with collector() as served:
        requests = await _requests(served)
        await _ask(served, requests, 1.0, 0)
        cpu = _Cpu(served)
        before = cpu.read()
        took = await _ask(served, requests, SECONDS, 0)
        own, servers = (after - start for after, start in zip(cpu.read(), before, strict=True))
        paced = sorted(await _ask(served, requests, SECONDS, CONNECTIONS / RATE))
    return [
        Figure("pings, PostgreSQL included", len(took) / (own + servers), "pings per CPU-second", 5_000),
        Figure("pings, the collector alone", len(took) / own, "pings per CPU-second"),
        Figure("a ping at 1,000 a second, median", statistics.median(paced) * 1000, "ms"),
        Figure(
            "a ping at 1,000 a second, 99th percentile",
            paced[len(paced) * 99 // 100] * 1000,
            "ms",
            at_most=50,
        ),
    ]


async def _watching() -> list[Figure]:
    """While all are in time; and while as many are missed each second as if no hourly job ever came."""
    async with database() as db:
        async with db.transaction() as tx:
            await _make(tx, MANY)
            await collector_presence.keep(tx, _COLLECTOR, utc_now() - timedelta(days=2), utc_now())
        began, found = utc_now() - timedelta(hours=1), Counter[str]()

        class Counting:
            async def store_overdue(self, _: Tx, late: Sequence[object]) -> Callable[[], None]:
                return lambda: found.update(late=len(late))

        late = HeartbeatSweeper(db, Counting(), clock=GivenClock(utc_now, lambda: began))
        while await late.turn():
            pass
        in_time = await _turns(db, late, 0)
        assert not found
        missed = await _turns(db, late, MANY // 3600)
        assert found["late"] == TURNS * (MANY // 3600)
    return [
        Figure("watching 100,000 heartbeats", in_time, "% of a CPU", at_most=1),
        Figure("and finding 27 missed each second", missed, "% of a CPU", at_most=1),
    ]


async def _turns(db: Db, late: HeartbeatSweeper, missed: int) -> float:
    """Percent of a CPU that a turn takes each second, when so many are missed before each."""
    spent = 0.0
    for turn in range(TURNS):
        async with db.transaction() as tx:
            await collector_presence.keep(tx, _COLLECTOR, utc_now() - timedelta(days=2), utc_now())
            await tx.execute(_MISSED, turn * missed, (turn + 1) * missed)
            server = psutil.Process(await tx.fetchval("SELECT pg_backend_pid()"))
        before, start = server.cpu_times(), time.process_time()
        await late.turn()
        after = server.cpu_times()
        spent += time.process_time() - start + after.user + after.system - before.user - before.system
    return 100 * spent / TURNS


# Two minutes after the end of their day and its grace.
_MISSED = """
    UPDATE heartbeats SET base_at = now() - interval '86580 s', due_at = now() - interval '120 s'
    WHERE monitor > $1 AND monitor <= $2
"""


async def _make(tx: Tx, many: int) -> None:
    """Heartbeats of the first team, whose keys are their numbers."""
    now = utc_now()
    team = await tx.fetchval(
        """
        INSERT INTO teams (id, name, plan, created_at) VALUES ($1, 'bench', 'pro', $2) RETURNING team_id
        """,
        uuid7(),
        now,
    )
    ids = [uuid7() for _ in range(many)]
    await tx.execute(
        """
        INSERT INTO monitors (team_id, id, name, type, config, interval_s, timeout_s, locations, severity,
            failure_threshold, recovery_threshold, changed_at, created_at, updated_at)
        SELECT $1, id, 'job ' || n, 'heartbeat', '{}', 60, 10, '{push}', 'critical', 1, 1, $3, $3, $3
        FROM unnest($2::uuid[]) WITH ORDINALITY AS u (id, n)
        """,
        team,
        ids,
        now,
    )
    location = (await plans.name_locations(tx, ["push"]))["push"]
    await tx.execute(
        """
        INSERT INTO states (monitor, location, turn, revision)
        SELECT monitor, $1, 0, 1 FROM monitors WHERE team_id = $2
        """,
        location,
        team,
    )
    await tx.execute(
        """
        INSERT INTO heartbeats (team_id, id, monitor, key_hash, wait_s, grace_s, cover_s, base_at, due_at)
        SELECT m.team_id, m.id, m.monitor, u.key_hash, 86400, 60, 86460, $3,
            $3::timestamptz + interval '86460 s'
        FROM unnest($1::uuid[], $2::bytea[]) AS u (id, key_hash) JOIN monitors m USING (id)
        """,
        ids,
        [key_hash(str(n)) for n in range(many)],
        now,
    )
    await tx.execute("ANALYZE")


class _Cpu:
    """CPU seconds of the collector, and of all of its PostgreSQL."""

    def __init__(self, served: Served) -> None:
        self._own = psutil.Process(served.pid)
        server = psutil.Process(served.db.get_server_pid()).parent()
        assert server is not None
        self._server = server

    def read(self) -> tuple[float, float]:
        everyone = (self._server, *self._server.children(recursive=True))
        return _spent(self._own), sum(map(_spent, everyone))


def _spent(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


async def _ask(served: Served, requests: list[bytes], seconds: float, apart_s: float) -> list[float]:
    """Each connection its own pings, *apart_s* from one to the next; what each took, in s."""
    until = time.monotonic() + seconds
    took: list[float] = []

    async def ask(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        due = time.monotonic() + apart_s * number / CONNECTIONS
        for place in count(number, CONNECTIONS):
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            start = due if apart_s else time.monotonic()
            if start > until:
                break
            writer.write(requests[place % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            await reader.readexactly(len(_ANSWER))
            took.append(time.monotonic() - start)
            due += apart_s
        writer.close()

    await asyncio.gather(*(ask(number) for number in range(CONNECTIONS)))
    return took


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for figure in run():
        print(figure, flush=True)
