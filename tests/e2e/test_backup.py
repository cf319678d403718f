"""A backup made beside the running product; the database is lost, comes back, and everything goes on."""

import asyncio
import gzip
import os
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from collector.ops.storage import backup_file
from probe.spool.segments import Sealed, scan
from shared.wire.convert import decode
from tests.e2e.product import Caller, Product, eventually, running
from tests.receiver import Receiver, answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

SECRET = "the-canary-in-every-sealed-column"
BASIC = {"type": "basic", "username": "me", "password": SECRET}


async def tocsin(product: Product, *arguments: str | Path) -> None:
    """Run a command on the product's data directory; it must end well."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "shared.command", *map(str, arguments),
        env={**kept, "TOCSIN_DATA_DIR": str(product.data_dir)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    data, _ = await process.communicate()
    assert process.returncode == 0, data.decode()


async def test_a_lost_database_comes_back_and_the_probe_makes_it_whole(tmp_path: Path) -> None:
    async with (
        receiving() as steady,
        receiving(always=answer(500)) as broken,
        receiving() as hook,
        running(tmp_path) as (product, caller),
    ):
        monitor = await caller.made("/v1/monitors", _monitor("steady", steady))
        down = await caller.made("/v1/monitors", _monitor("broken", broken))
        channel = await caller.made("/v1/alert-channels", _channel(hook, monitors=[down["id"]]))
        await eventually(lambda: _delivered(caller, channel["id"]), timeout_s=60)
        await eventually(lambda: _has(caller, monitor["id"], 3))

        await tocsin(product, "backup", tmp_path / "file")
        stored = len(await _results(caller, monitor["id"]))
        await eventually(lambda: _has(caller, monitor["id"], stored + 4), timeout_s=40)
        assert product.stop() == 0
        shutil.rmtree(product.data_dir / "postgres")
        await tocsin(product, "restore", tmp_path / "file")
        product.start()
        await product.ready()

        await eventually(lambda: _whole(product), timeout_s=60)
        times = Counter(result["timestamp"] for result in await _results(caller, monitor["id"]))
        assert max(times.values()) == 1
        assert len(times) >= stored + 4
        incidents = (await caller.got(f"/v1/incidents?monitorId={down['id']}"))["data"]
        assert [incident["status"] for incident in incidents] == ["open"]

        broken.always = answer(200)
        await eventually(lambda: _said(hook, "monitor.up"), timeout_s=60)
        kinds = Counter(received.headers["x-service-event"] for received in hook.received)
        assert kinds == {"monitor.down": 1, "monitor.up": 1}
        sequences = [received.json["sequence"] for received in hook.received]
        assert sequences == sorted(sequences)


async def test_no_secret_is_in_a_backup_that_is_made_without_a_service(tmp_path: Path) -> None:
    async with receiving() as target, running(tmp_path) as (product, caller):
        await caller.made("/v1/alert-channels", _channel(target))
        await caller.made("/v1/monitors", _monitor("secret", target, headers={"X-Api-Key": SECRET}))
        await caller.made("/v1/monitors", _monitor("basic", target, auth=BASIC))
        page = await caller.made("/v1/status-pages", {"name": "Page", "slug": "page"})
        subscriber = {"webhookUrl": f"{target.url()}?{SECRET}", "signingSecret": SECRET}
        await caller.made(f"/v1/status-pages/{page['id']}/subscribers", subscriber)
        assert product.stop() == 0

        await tocsin(product, "backup", tmp_path / "file")

        with (tmp_path / "file").open("rb") as file:
            header = backup_file.check(file).header
        text = gzip.decompress((tmp_path / "file").read_bytes())
        key = (product.data_dir / "secret-key").read_text().strip()
        for secret in (SECRET, product.token, key):
            for form in (secret.encode(), secret.encode().hex().encode()):
                assert form not in text
        assert len(header.keys) == 1


def _channel(hook: Receiver, **config: Any) -> dict[str, Any]:
    config = {"url": hook.url(), "signingSecret": SECRET, **config}
    return {"name": "hook", "type": "webhook", "config": config}


def _monitor(name: str, target: Receiver, **config: Any) -> dict[str, Any]:
    config = {"url": target.url("/"), **config}
    return {"name": name, "type": "http", "interval": 1, "timeout": 1, "config": config}


async def _results(caller: Caller, monitor: str) -> list[Any]:
    return list((await caller.got(f"/v1/monitors/{monitor}/results?limit=1000"))["data"])


async def _has(caller: Caller, monitor: str, count: int) -> bool:
    return len(await _results(caller, monitor)) >= count


async def _delivered(caller: Caller, channel: str) -> bool:
    found = (await caller.got(f"/v1/alert-channels/{channel}/deliveries"))["data"]
    return [(item["event"], item["status"]) for item in found] == [("monitor.down", "delivered")]


async def _said(hook: Receiver, kind: str) -> bool:
    return any(received.headers["x-service-event"] == kind for received in hook.received)


async def _whole(product: Product) -> bool:
    """Every result of the spool is stored, and no other."""
    connection = await product.connect()
    try:
        stored = await connection.fetchval("SELECT count(*) FROM results")
    finally:
        await connection.close()
    batches = {
        (record.incarnation, record.seq): len(decode(record.data).monitor)
        for path in product.data_dir.rglob("*.seg")
        for record in scan(path.read_bytes())
        if isinstance(record, Sealed)
    }
    return bool(stored == sum(batches.values()))
