"""kill -9 of any part, at random moments under load: nothing is lost, nothing is notified twice."""

import asyncio
import os
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from probe.spool.segments import Sealed, scan
from shared.wire.convert import decode
from tests.e2e.product import Caller, Product, eventually, running
from tests.receiver import Receiver, answer, receiving

KILLS = int(os.environ.get("TOCSIN_TEST_KILLS", "12"))
SEED = int(os.environ.get("TOCSIN_TEST_SEED", "20261121"))
BUSY = 60

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120 + KILLS * 20)]

VICTIMS: tuple[tuple[str, ...], ...] = (
    ("probe",),
    ("collector",),
    ("postgres",),
    ("collector", "probe"),
    ("up", "collector", "probe", "postgres"),
)


async def test_nothing_is_lost_or_told_twice_through_kills_at_random_moments(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    async with receiving() as busy, receiving() as hook, running(tmp_path) as (product, caller):
        await caller.made("/v1/alert-channels", _channel(hook))
        for number in range(BUSY):
            await caller.made("/v1/monitors", _monitor(f"busy {number}", busy))
        outages = {
            await _one_outage(product, caller, chance, number, VICTIMS[number % len(VICTIMS)])
            for number in range(KILLS)
        }
        await eventually(lambda: _settled(product, hook, outages), timeout_s=60)
        await eventually(lambda: _all_stored(product, tmp_path), timeout_s=60)
        await _stopped(caller)
        await eventually(lambda: _all_stored(product, tmp_path), timeout_s=30)

        connection = await product.connect()
        counts = await connection.fetchrow(
            """
            SELECT (SELECT count(*) FROM result_gaps) AS gaps,
                (SELECT count(*) FROM refused_results) AS refused,
                (SELECT count(*) FROM incidents WHERE status <> 'resolved') AS open
            """
        )
        assert counts is not None
        assert dict(counts) == {"gaps": 0, "refused": 0, "open": 0}
        rows = await connection.fetch("SELECT monitor_id, count(*) FROM incidents GROUP BY 1")
        assert sorted(row["count"] for row in rows) == [1] * KILLS
        await connection.close()


async def _one_outage(
    product: Product, caller: Caller, chance: random.Random, number: int, victims: Iterable[str]
) -> str:
    """A monitor whose target breaks and mends once, with a kill at a random moment around it; its id."""
    async with receiving() as target:
        monitor = await caller.made("/v1/monitors", _monitor(f"victim {number}", target))
        await target.wait_for(1)
        target.always = answer(503)
        await asyncio.sleep(chance.uniform(0, 4.5))
        product.kill(*victims)
        if "up" in victims:
            product.start()
        await product.ready()
        await eventually(lambda: _incidents(caller, monitor["id"], "open"), timeout_s=60)
        target.always = answer(200)
        if chance.random() < 0.5:
            await asyncio.sleep(chance.uniform(0, 1))
            product.kill(*victims)
            if "up" in victims:
                product.start()
            await product.ready()
        await eventually(lambda: _incidents(caller, monitor["id"], "resolved"), timeout_s=60)
        await caller.made(f"/v1/monitors/{monitor['id']}/pause", None)
    return str(monitor["id"])


async def _settled(product: Product, hook: Receiver, outages: set[str]) -> bool:
    """Begin and end of every outage were notified, each under one id, in the order of its sequence."""
    told: dict[tuple[str, str], set[str]] = {}
    tries: Counter[str] = Counter()
    for got in hook.received:
        payload = got.json
        told.setdefault((payload["monitor"]["id"], payload["event"]), set()).add(payload["id"])
        tries[payload["id"]] += 1
    wanted = {(monitor, event) for monitor in outages for event in ("monitor.down", "monitor.up")}
    if told.keys() != wanted:
        return False
    assert {len(ids) for ids in told.values()} == {1}
    assert max(tries.values()) <= 6
    connection = await product.connect()
    waiting = await connection.fetchval("SELECT count(*) FROM deliveries WHERE status = 0")
    await connection.close()
    return bool(waiting == 0)


async def _all_stored(product: Product, directory: Path) -> bool:
    """Does the database hold each result that lies in the probe's spool (24 h are kept), once?"""
    spooled = Counter[int]()
    seqs: dict[int, set[int]] = {}
    for record in _records(directory):
        batch = decode(record.data)
        if record.seq in seqs.setdefault(record.incarnation, set()):
            continue
        seqs[record.incarnation].add(record.seq)
        spooled.update(batch.monitor)
    for numbers in seqs.values():
        assert numbers == set(range(1, max(numbers) + 1))
    connection = await product.connect()
    rows = await connection.fetch("SELECT monitor, count(*) FROM results GROUP BY monitor")
    await connection.close()
    stored = {row["monitor"]: row["count"] for row in rows}
    return stored == dict(spooled)


def _records(directory: Path) -> Iterable[Sealed]:
    for path in sorted(directory.rglob("*.seg")):
        for record in scan(path.read_bytes()):
            if isinstance(record, Sealed):
                yield record


async def _stopped(caller: Caller) -> None:
    for page in (1, 2):
        for monitor in (await caller.got(f"/v1/monitors?limit=100&page={page}"))["data"]:
            await caller.made(f"/v1/monitors/{monitor['id']}/pause", None)


async def _incidents(caller: Caller, monitor: str, status: str) -> Any:
    return (await caller.got(f"/v1/incidents?monitor_id={monitor}&status={status}"))["data"]


def _channel(hook: Receiver) -> dict[str, Any]:
    return {"name": "hook", "type": "webhook", "config": {"url": hook.url()}}


def _monitor(name: str, target: Receiver) -> dict[str, Any]:
    config = {"url": target.url("/")}
    return {"name": name, "type": "http", "interval": 1, "timeout": 1, "config": config}
