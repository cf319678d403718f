"""The disk of database and spool is full for a while: nothing is lost, and all goes on by itself."""

import asyncio
import time
from typing import Any

import pytest

from shared.wire.convert import decode
from tests.e2e.product import Caller, Product, eventually, running
from tests.faults.small_disk import fill, small_disk
from tests.faults.walk import sealed
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

MONITORS = 10
FULL_S = 20.0
BACK_WITHIN_S = 60.0


async def test_a_full_disk_loses_no_result_and_no_outage() -> None:
    with small_disk(320) as directory:
        async with receiving() as target, running(directory) as (product, caller):
            monitors = [await _monitor(caller, number, target.url("/")) for number in range(MONITORS)]
            await target.wait_for(3 * MONITORS, 60)
            filler = await asyncio.to_thread(fill, product.data_dir)
            target.always = answer(503)
            await asyncio.sleep(FULL_S)
            filler.unlink()
            freed = time.monotonic()
            await product.ready(BACK_WITHIN_S)
            back_s = time.monotonic() - freed

            await eventually(lambda: _open(product, MONITORS), 60)
            target.always = answer(200)
            await eventually(lambda: _open(product, 0), 60)
            for monitor in monitors:
                await caller.made(f"/v1/monitors/{monitor}/pause", None)
            await eventually(lambda: _all_stored(product, len(target.received)), 60)
            rows = await _rows(product, "SELECT count(*) FROM incidents GROUP BY monitor_id")
            assert [row["count"] for row in rows] == [1] * MONITORS
            assert back_s < BACK_WITHIN_S


async def _monitor(caller: Caller, number: int, url: str) -> str:
    body = {"name": f"m {number}", "type": "http", "interval": 1, "timeout": 1, "config": {"url": url}}
    id_: str = (await caller.made("/v1/monitors", body))["id"]
    return id_


async def _rows(product: Product, sql: str) -> list[dict[str, Any]]:
    connection = await product.connect()
    try:
        return [dict(row) for row in await connection.fetch(sql)]
    finally:
        await connection.close()


async def _open(product: Product, count: int) -> bool:
    rows = await _rows(product, "SELECT count(*) FROM incidents WHERE status = 'open'")
    return rows == [{"count": count}]


async def _all_stored(product: Product, checks: int) -> bool:
    """The spool is no measure: a batch that is committed while the disk is full is never written to it.

    *checks*: those that the target saw; the last one of a monitor may end with its pause.
    """
    spooled = sum(len(decode(data).monitor) for data in sealed(product.data_dir))
    [counts] = await _rows(
        product,
        """
        SELECT (SELECT count(*) FROM results) AS stored, (SELECT count(*) FROM result_gaps) AS gaps,
            (SELECT count(*) FROM refused_results) AS refused
        """,
    )
    assert (counts["gaps"], counts["refused"]) == (0, 0)
    return bool(counts["stored"] >= max(spooled, checks - MONITORS))
