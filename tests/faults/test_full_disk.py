"""The disk of database and spool is full for a while: nothing is lost, and all goes on by itself."""

import asyncio
import time

import pytest

from tests.e2e.product import eventually, running
from tests.faults.outage import all_stored, assert_sound, make_monitor, open_incidents, rows
from tests.faults.small_disk import fill, small_disk
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

MONITORS = 10
FULL_S = 20.0
BACK_WITHIN_S = 60.0


async def test_a_full_disk_loses_no_result_and_no_outage() -> None:
    with small_disk(320) as directory:
        async with receiving() as target, running(directory) as (product, caller):
            monitors = [await make_monitor(caller, number, target.url("/")) for number in range(MONITORS)]
            await target.wait_for(3 * MONITORS, 60)
            filler = await asyncio.to_thread(fill, product.data_dir)
            target.always = answer(503)
            await asyncio.sleep(FULL_S)
            assert "No space left on device" in product.log.read_text()
            filler.unlink()
            freed = time.monotonic()
            await product.ready(BACK_WITHIN_S)
            back_s = time.monotonic() - freed

            await eventually(lambda: open_incidents(product, MONITORS), 60)
            target.always = answer(200)
            await eventually(lambda: open_incidents(product, 0), 60)
            for monitor in monitors:
                await caller.made(f"/v1/monitors/{monitor}/pause", None)
            await eventually(lambda: all_stored(product, len(target.received), MONITORS), 60)
            counts = await rows(product, "SELECT count(*) FROM incidents GROUP BY monitor_id")
            assert [row["count"] for row in counts] == [1] * MONITORS
            assert back_s < BACK_WITHIN_S
            await asyncio.to_thread(assert_sound, product)
