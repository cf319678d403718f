"""PostgreSQL's own backup, made beside the working product: what came after it comes again from the probe."""

import asyncio
import shutil
from pathlib import Path

import pytest

from collector.platform.embedded import files
from tests.e2e.product import Product, eventually, running
from tests.faults.outage import all_stored, assert_sound, make_monitor, open_incidents, rows
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

MONITORS = 10


def _back_up(product: Product) -> Path:
    """Copy the files of the running server, and the log of its writes meanwhile."""
    home = files.settle(product.data_dir)
    copy = home.data.with_name("base-backup")
    url = files.url(product.data_dir)
    home.run("pg_basebackup", "--checkpoint=fast", "--wal-method=stream", "-D", str(copy), "-d", url)
    return copy


def _lose_and_restore(product: Product, copy: Path) -> None:
    data = files.settle(product.data_dir).data
    shutil.rmtree(data)
    copy.rename(data)


async def test_results_since_the_backup_come_again_and_a_new_outage_is_seen(tmp_path: Path) -> None:
    async with receiving() as target, receiving() as other, running(tmp_path) as (product, caller):
        monitors = [await make_monitor(caller, number, target.url("/")) for number in range(MONITORS)]
        down = await make_monitor(caller, MONITORS, other.url("/"))
        await target.wait_for(3 * MONITORS, 60)

        copy = await asyncio.to_thread(_back_up, product)
        before = await rows(product, "SELECT count(*) FROM results")
        other.always = answer(503)
        await eventually(lambda: open_incidents(product, 1), 60)
        seen = len(target.received)
        await target.wait_for(seen + 5 * MONITORS, 60)
        product.kill("up", "collector", "probe", "postgres")
        await asyncio.to_thread(_lose_and_restore, product, copy)
        product.start()
        await product.ready()

        # The outage began after the backup: it is seen again, in what is sent again and in fresh checks.
        await eventually(lambda: open_incidents(product, 1), 60)
        other.always = answer(200)
        await eventually(lambda: open_incidents(product, 0), 60)
        for monitor in (*monitors, down):
            await caller.made(f"/v1/monitors/{monitor}/pause", None)
        checks = len(target.received) + len(other.received)
        await eventually(lambda: all_stored(product, checks, 2 * (MONITORS + 1)), 60)
        stored = await rows(product, "SELECT count(*) FROM results")
        assert stored[0]["count"] >= before[0]["count"] + 5 * MONITORS
        counts = await rows(product, "SELECT count(*) FROM incidents GROUP BY monitor_id")
        assert [row["count"] for row in counts] == [1]
        await asyncio.to_thread(assert_sound, product)
