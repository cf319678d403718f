"""Monitors of one target with an outage each, and the proof that nothing of it was lost."""

from typing import Any

from collector.platform.embedded import files
from shared.wire.convert import decode
from tests.e2e.product import Caller, Product
from tests.faults.walk import sealed


async def make_monitor(caller: Caller, number: int, url: str) -> str:
    """A monitor with a check each second; its id."""
    body = {"name": f"m {number}", "type": "http", "interval": 1, "timeout": 1, "config": {"url": url}}
    id_: str = (await caller.made("/v1/monitors", body))["id"]
    return id_


async def rows(product: Product, sql: str) -> list[dict[str, Any]]:
    connection = await product.connect()
    try:
        return [dict(row) for row in await connection.fetch(sql)]
    finally:
        await connection.close()


async def open_incidents(product: Product, count: int) -> bool:
    """Whether so many incidents are open."""
    found = await rows(product, "SELECT count(*) FROM incidents WHERE status = 'open'")
    return found == [{"count": count}]


async def all_stored(product: Product, checks: int, monitors: int) -> bool:
    """Whether each result is stored that the spool holds or that the target's *checks* led to, once.

    The spool is no measure while its disk is full: a batch that is committed then is never written to it.
    The last check of each of the *monitors* may have ended with its pause.
    """
    spooled = sum(len(decode(data).monitor) for data in sealed(product.data_dir))
    [counts] = await rows(
        product,
        """
        SELECT (SELECT count(*) FROM results) AS stored, (SELECT count(*) FROM result_gaps) AS gaps,
            (SELECT count(*) FROM refused_results) AS refused
        """,
    )
    assert (counts["gaps"], counts["refused"]) == (0, 0)
    assert counts["stored"] <= checks
    return bool(counts["stored"] >= max(spooled, checks - monitors))


def assert_sound(product: Product) -> None:
    """No table and no index of the database is damaged."""
    home = files.settle(product.data_dir)
    home.run("pg_amcheck", "--install-missing", "--heapallindexed", files.url(product.data_dir))
