"""kill -9 of all of PostgreSQL under the heaviest load: what was acknowledged is stored, all of it once."""

import asyncio
import os
import signal
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.evaluation.world import writing
from tests.faults.load import BATCH, Session, durable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

KILLS = 3
BETWEEN_S = 2.0
# On an idle machine two. What is restarted recovers first, and others may have the processor.
BACK_WITHIN_S = 15.0
FAILING = range(10, 15)


async def test_what_was_acknowledged_before_each_kill_is_there_and_work_goes_on(tmp_path: Path) -> None:
    async with durable(tmp_path) as (server, world), writing(world) as writer:
        session, over = Session(world, writer), asyncio.Event()
        work = asyncio.create_task(session.run(over, FAILING))
        for _ in range(KILLS):
            await asyncio.sleep(BETWEEN_S)
            acked = len(session.acked_at)
            assert server.pid is not None
            os.kill(server.pid, signal.SIGKILL)
            await server.wait()
            await server.start()
            stored = await world.value("SELECT last_seq FROM probe_cursors")
            assert stored >= acked
            while len(session.acked_at) == acked:
                await asyncio.sleep(0.01)
        over.set()
        await work

        count = len(session.batches)
        assert await world.value("SELECT count(*) FROM results") == count * BATCH
        assert await world.value("SELECT count(*) FROM refused_results") == 0
        rows = await world.fetch("SELECT status, failure_count FROM incidents")
        assert [(row["status"], row["failure_count"]) for row in rows] == [("resolved", len(FAILING))] * 10
        longest_s = max(after - before for before, after in pairwise(session.acked_at))
        assert longest_s < BACK_WITHIN_S
        rate = count * BATCH / (session.acked_at[-1] - session.acked_at[0])
    sys.stdout.write(f"killed: {rate:.0f} results/s in all, nothing stored for {longest_s:.1f} s at most\n")
