"""Several probes and collectors: hand-over of many monitors, a backlog after an outage, results a second.

``python -m tests.bench.fleet``
"""

import asyncio
import itertools
import random
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import psutil
import uvloop

from collector.evaluation.ingest.columns import Part, flatten, latest
from collector.platform.embedded.server import Embedded
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from collector.probes.service.assignments import rebalance
from probe.spool.spool import Spool
from shared.clock import utc_now
from shared.ids import uuid7
from shared.results import Run, Status
from shared.wire import convert
from shared.wire.v1 import probe_pb2
from tests.bench.figures import Figure
from tests.e2e.fleet import Fleet, fleet
from tests.e2e.fleet import Part as Process
from tests.e2e.product import eventually
from tests.probes.ground import fetch, make_monitors, make_team
from tests.probes.peer import Peer, collecting, connected, hello, identity

MOVED = 10_000
BATCH = 1_000
SPOOLED = 300
FRESH = 100
PREPARED = 400


def run() -> Iterator[Figure]:
    """What issue 5 asks for, the memory of idle sessions apart."""
    yield Figure("decoded and prepared", _prepared(), "results per CPU-second", at_least=400_000)
    drained, lost = uvloop.run(_hand_over())
    yield Figure("10,000 monitors handed over by a drained probe", drained, "s", at_most=2)
    yield Figure("10,000 monitors moved from a lost probe to another", lost, "s", at_most=2)
    yield from uvloop.run(_backlog())


def _prepared() -> float:
    """One collector's share of a result but for the database: from the bytes to the rows and columns."""
    sealed = [_batch(1, seq, range(1, BATCH + 1), [1] * BATCH, 1, seq * 60) for seq in range(1, PREPARED + 1)]
    probe_id, now, began = uuid7(), utc_now(), time.process_time()
    for group in (sealed[start : start + 5] for start in range(0, PREPARED, 5)):
        batches = [convert.decode(data) for data in group]
        parts = [Part(probe_id, 1, batch.wall_us, batch) for batch in batches]
        columns = flatten(parts, {"status 503, expected 200-299": 1}, now)
        latest(columns, None)
    return PREPARED * BATCH / (time.process_time() - began)


@asynccontextmanager
async def _server() -> AsyncIterator[tuple[Path, str]]:
    """A directory and the URL of a server of its own, migrated and empty."""
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as directory:
        embedded = Embedded(Path(directory) / "var", extra={"max_connections": "60"})
        await embedded.start()
        try:
            await migrate(embedded.url, utc_now())
            yield Path(directory), embedded.url
        finally:
            await embedded.stop()


async def _hand_over() -> tuple[float, float]:
    """Seconds from the decision until the other probe has its plan: from a drained probe, from a lost one."""
    async with _server() as (_, url):
        db = await Db.open(url, size=8)
        holds, takes = hello(), hello()
        async with collecting(db) as collector, connected(collector, takes) as other:
            await other.snapshot()
            await _assign(db, identity(holds))
            async with connected(collector, holds) as holder:
                await holder.snapshot()
                drained = await _let_go(db, collector.signals.ring, holder, other, identity(holds))
                await fetch(db, "UPDATE states SET probe_id = $1", identity(holds))
            await fetch(
                db,
                """
                UPDATE probes SET draining_at = NULL,
                    ended_at = CASE WHEN probe_id = $1 THEN now() - interval '1 hour' END
                """,
                identity(holds),
            )
            async with connected(collector, takes) as again:
                await again.snapshot()
                lost = await _moved(db, collector.signals.ring, again)
        await db.close()
        return drained, lost


async def _assign(db: Db, probe_id: UUID) -> None:
    team = await make_team(db, utc_now())
    monitors = await make_monitors(db, team, MOVED, locations=("eu",), now=utc_now())
    await fetch(db, "INSERT INTO locations (name) VALUES ('eu')")
    await fetch(
        db,
        """
        INSERT INTO states (monitor, location, turn, revision, assignment, probe_id)
        SELECT m, location, 0, 1, nextval('assignment_numbers'), $2 FROM unnest($1::int[]) AS m, locations
        """,
        monitors,
        probe_id,
    )


async def _let_go(db: Db, ring: Callable[[], None], holder: Peer, other: Peer, drained: UUID) -> float:
    await fetch(db, "UPDATE probes SET draining_at = now() WHERE probe_id = $1", drained)
    began = time.monotonic()
    async with db.transaction() as tx:
        await rebalance(tx, utc_now(), gently=True)
    ring()
    await holder.hear_until(lambda: len(holder.asked) == MOVED)
    await holder.say(released=probe_pb2.Released(number=sorted(holder.asked)))
    await other.hear_until(lambda: len(other.plan) == MOVED)
    return time.monotonic() - began


async def _moved(db: Db, ring: Callable[[], None], other: Peer) -> float:
    began = time.monotonic()
    async with db.transaction() as tx:
        await rebalance(tx, utc_now())
    ring()
    await other.hear_until(lambda: len(other.plan) == MOVED)
    return time.monotonic() - began


async def _backlog() -> list[Figure]:
    """Two probes come back to two collectors after an outage, each with 300,000 results in its spool."""
    async with _server() as (directory, url), fleet(url, directory) as made:
        first, second = await made.collector(), await made.collector()
        probes = [
            await made.probe("eu", first, second, LOCATION="eu"),
            await made.probe("us", second, first, LOCATION="us"),
        ]
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        for location in ("eu", "us"):
            await _place(made, BATCH, port, 86_400, location)
            await _place(made, FRESH, port, 1, location)
        await made.shared_by(2, 2 * (BATCH + FRESH))
        for probe in probes:
            probe.stop()
        for probe in probes:
            await _fill(made, probe)
        figures = await _drained(made, probes)
        server.close()
        return figures


async def _drained(made: Fleet, probes: list[Process]) -> list[Figure]:
    [before] = await made.rows("SELECT count(*) FROM results")
    wanted = before["count"] + 2 * SPOOLED * BATCH
    for probe in probes:
        probe.start()

    async def begun() -> bool:
        [now] = await made.rows("SELECT count(*) FROM results")
        return bool(now["count"] > before["count"] + BATCH)

    await eventually(begun, timeout_s=30)
    began, spent, lag = time.monotonic(), _cpu_s(made), 0.0
    [at_start] = await made.rows("SELECT count(*) FROM results")
    while True:
        await asyncio.sleep(0.5)
        [now] = await made.rows(
            """
            SELECT extract(epoch FROM now() - min(last_at))::float8 AS age
            FROM states JOIN monitors USING (monitor) WHERE interval_s = 1
            """
        )
        if time.monotonic() - began > 3:
            lag = max(lag, now["age"] - 1.0)
        [exact] = await made.rows("SELECT count(*) FROM results")
        if exact["count"] >= wanted or time.monotonic() - began > 90:
            break
    took, count = time.monotonic() - began, exact["count"] - at_start["count"]
    cpu = _cpu_s(made) - spent
    return [
        Figure("600,000 spooled results of two probes, drained in", took, "s", at_most=30),
        Figure("fresh results meanwhile, late by at most", lag, "s", at_most=5),
        Figure("two probes, two collectors: committed", count / took, "results/s", at_least=40_000),
        Figure("the same, of all processes' CPU time", count / cpu, "results per CPU-second"),
    ]


async def _place(made: Fleet, count: int, port: int, interval: int, location: str) -> None:
    body = {
        "type": "tcp",
        "interval": interval,
        "timeout": 1,
        "locations": [location],
        "config": {"host": "127.0.0.1", "port": port},
    }
    for number in range(count):
        await made.made("/v1/monitors", {**body, "name": f"{location} {interval} {number}"})


async def _fill(made: Fleet, probe: Process) -> None:
    """Ten hours of results in the spool of a probe that could tell nobody."""
    location = probe.settings["LOCATION"]
    rows = await made.rows(
        """
        SELECT s.monitor, s.assignment, s.location FROM states s JOIN monitors m USING (monitor)
        WHERE m.locations = ARRAY[$1] AND m.interval_s > 1 ORDER BY s.monitor
        """,
        location,
    )
    spool, incarnation = Spool(probe.home / "probe" / "spool"), random.getrandbits(62)
    for seq in range(1, SPOOLED + 1):
        data = _batch(
            incarnation,
            seq,
            [row["monitor"] for row in rows],
            [row["assignment"] for row in rows],
            rows[0]["location"],
            (SPOOLED + 1 - seq) * 120,
        )
        spool.append(incarnation, seq, BATCH, data)
    spool.close()


def _batch(
    incarnation: int, seq: int, monitors: Sequence[int], numbers: Sequence[int], location: int, ago_s: int
) -> bytes:
    count = len(monitors)
    return convert.encode(
        convert.Batch(
            incarnation=incarnation,
            first_seq=seq,
            seq=seq,
            boot_id="an earlier one",
            base_us=1,
            wall_us=int((utc_now().timestamp() - ago_s) * 1e6),
            monitor=list(monitors),
            location=[location] * count,
            assignment=list(numbers),
            revision=[1] * count,
            run=[Run.SCHEDULED] * count,
            start_us=[place * 1000 for place in range(count)],
            duration_us=[12_345] * count,
            outcome=[Status.UP] * count,
            code=[200] * count,
            phases=[b""] * count,
            error=[0] * count,
            errors=[],
        )
    )


def _cpu_s(made: Fleet) -> float:
    """CPU seconds so far of the collectors, the probes and PostgreSQL, which is this process's child."""
    family = itertools.chain.from_iterable(
        (each, *each.children(recursive=True)) for each in psutil.Process().children()
    )
    spent = 0.0
    for process in family:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        spent += times.user + times.system
    return spent


if __name__ == "__main__":
    for figure in run():
        print(figure, flush=True)
