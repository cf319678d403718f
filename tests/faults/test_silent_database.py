"""A database that hangs or is cut off is noticed in seconds, though no connection to it is closed."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from collector.platform.storage.db import Db
from collector.platform.storage.liveness import watched
from shared.errors import Unavailable
from tests.e2e.product import Caller, Product, eventually, running
from tests.faults.outage import all_stored, make_monitor, open_incidents, rows
from tests.faults.walk import stopped
from tests.probe import wire
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

MONITORS = 10
# 7 s on an idle machine: two between two questions, and five of patience. Others may have the processor.
NOTICED_WITHIN_S = 20.0
HUNG_S = 25.0
# Without the watch the kernel gives a peer up that takes in nothing for 20 s.
KERNEL_WITHIN_S = 45.0
_ROOT = Path(__file__).parents[2]


async def test_a_database_that_hangs_is_noticed_and_costs_no_result_and_no_outage(tmp_path: Path) -> None:
    async with receiving() as target, running(tmp_path) as (product, caller):
        monitors = [await make_monitor(caller, number, target.url("/")) for number in range(MONITORS)]
        await target.wait_for(3 * MONITORS, 60)

        with stopped(product.pids("postgres")):
            stopped_at = time.monotonic()
            target.always = answer(503)
            await eventually(lambda: _is_unready(product, caller), 10)
            await eventually(lambda: _has_logged(product, "database silent"), NOTICED_WITHIN_S)
            noticed_s = time.monotonic() - stopped_at
            await asyncio.sleep(max(0.0, HUNG_S - noticed_s))

        await product.ready()
        await eventually(lambda: open_incidents(product, MONITORS), 60)
        target.always = answer(200)
        await eventually(lambda: open_incidents(product, 0), 60)
        for monitor in monitors:
            await caller.made(f"/v1/monitors/{monitor}/pause", None)
        await eventually(lambda: all_stored(product, len(target.received), MONITORS), 60)
        counts = await rows(product, "SELECT count(*) FROM incidents GROUP BY monitor_id")
        assert [row["count"] for row in counts] == [1] * MONITORS
        assert await _has_logged(product, "database answers again")
    sys.stdout.write(f"hung: noticed after {noticed_s:.0f} s\n")


async def _is_unready(product: Product, caller: Caller) -> bool:
    async with caller.session.get(f"{product.url}/readyz") as response:
        return response.status == 503


async def _has_logged(product: Product, event: str) -> bool:
    return event in product.log.read_text()


@contextmanager
def _far_end(line: wire.Wire, database_url: str) -> Iterator[str]:
    """The database's URL from the other end of the wire."""
    parts = urlsplit(database_url)
    folder = parse_qs(parts.query).get("host")
    if folder is None:
        pytest.skip("the server has no Unix socket that reaches into a namespace")
    socket = f"{folder[0]}/.s.PGSQL.5432"
    command = [sys.executable, "-m", "tests.faults.far_database", line.there, socket]
    process = subprocess.Popen(
        ["ip", "netns", "exec", line.namespace, *command], cwd=_ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield f"postgresql://{parts.netloc.rpartition('@')[0]}@{line.there}:{port}{parts.path}"
    finally:
        process.kill()
        process.communicate()


@asynccontextmanager
async def _far_pool(database_url: str) -> AsyncIterator[tuple[wire.Wire, str, Db]]:
    wire.demand()
    with wire.laid() as line, _far_end(line, database_url) as url:
        line.start()
        try:
            db = await Db.open(url, size=4, name="far")
            try:
                yield line, url, db
            finally:
                line.cut = False
                await db.close()
        finally:
            line.stop()


async def _wait_in(db: Db) -> None:
    async with db.connection() as tx:
        await tx.execute("SELECT pg_sleep(50)")


async def _ended_after_s(waiting: "list[asyncio.Task[None]]", within_s: float) -> float:
    """Seconds until all have failed with Unavailable."""
    began = time.monotonic()
    done, pending = await asyncio.wait(waiting, timeout=within_s)
    assert not pending
    assert [type(each.exception()) for each in done] == [Unavailable] * len(waiting)
    return time.monotonic() - began


async def test_a_cut_line_ends_what_waits_and_a_whole_one_is_used_again(database_url: str) -> None:
    async with _far_pool(database_url) as (line, url, db), watched(url, db.activity):
        waiting = [asyncio.create_task(_wait_in(db)) for _ in range(3)]
        await asyncio.sleep(3)

        line.cut = True
        took_s = await _ended_after_s(waiting, NOTICED_WITHIN_S)
        line.cut = False

        async with asyncio.timeout(30), db.connection() as tx:
            assert await tx.fetchval("SELECT 1") == 1
    sys.stdout.write(f"cut: noticed after {took_s:.0f} s\n")


async def test_without_a_watch_the_kernel_ends_what_waits_on_a_cut_line(database_url: str) -> None:
    async with _far_pool(database_url) as (line, _, db):
        waiting = [asyncio.create_task(_wait_in(db))]
        await asyncio.sleep(1)

        line.cut = True
        took_s = await _ended_after_s(waiting, KERNEL_WITHIN_S)
    sys.stdout.write(f"cut, and no watch: noticed after {took_s:.0f} s\n")
