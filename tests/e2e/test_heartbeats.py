"""Heartbeats and metrics of the product as its user runs it: curl as cron runs it, and a night without it."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Caller, Product, eventually, running
from tests.remote_write import FIRST, first, named

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

# As if all that the database knows had happened an hour earlier.
_AN_HOUR_AGO = """
    UPDATE listening SET since = since - interval '1 hour', until = until - interval '1 hour';
    UPDATE heartbeats SET base_at = base_at - interval '1 hour', last_at = last_at - interval '1 hour',
        due_at = due_at - interval '1 hour';
    UPDATE states SET last_at = last_at - interval '1 hour';
    UPDATE receptions SET last_at = last_at - interval '1 hour', next_at = next_at - interval '1 hour',
        due_at = due_at - interval '1 hour';
    UPDATE series SET at = at - interval '1 hour', seen_at = seen_at - interval '1 hour';
    UPDATE cadences SET since = since - interval '1 hour';
"""


async def test_a_night_without_the_product_pages_nobody_and_a_job_that_is_late_then_is_found(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (product, caller):
        patient = await _made(caller, expectedInterval="30m", gracePeriod=60)
        failed = await _made(caller, expectedInterval="30m", gracePeriod=60)
        await _curl(await _url(product, caller, patient))
        await _curl(await _url(product, caller, failed), "/7")
        metrics = await _pushed(caller, staleAfter=60)
        await eventually(lambda: _incidents(caller, 1))
        await asyncio.sleep(6)  # so often a collector says that it listens

        product.kill("collector")
        connection = await product.connect()
        await connection.execute(_AN_HOUR_AGO)
        await eventually(lambda: _is_back(product))
        await asyncio.sleep(8)  # several looks, after the collector said that it listens
        [looked] = await connection.fetch(
            """
            SELECT (SELECT due_at > now() FROM heartbeats ORDER BY monitor LIMIT 1) AS jobs,
                (SELECT due_at > now() FROM receptions) AS metrics
            """
        )
        await connection.close()

        assert dict(looked) == {"jobs": True, "metrics": True}
        assert (await caller.got(f"/v1/monitors/{patient}"))["status"] == "up"
        assert (await caller.got(f"/v1/monitors/{metrics}"))["status"] == "up"
        assert (await caller.got(f"/v1/monitors/{failed}"))["status"] == "down"
        assert len(await _open(caller)) == 1

        quick = await _made(caller, expectedInterval=1, gracePeriod=0)
        brief = await _pushed(caller, staleAfter=1)
        await eventually(lambda: _is_down(caller, quick))
        await eventually(lambda: _is_down(caller, brief))


async def test_a_job_in_the_shape_of_cron_is_followed_from_start_to_end(tmp_path: Path) -> None:
    async with running(tmp_path) as (product, caller):
        id_ = await _made(caller, cron="*/5 * * * *", timezone="Europe/Berlin", maxRunTime="1h")
        url = await _url(product, caller, id_)

        assert await _curl(url, "/start?rid=night") == '{"ok":true}'
        assert await _curl(url, "/0?rid=night", "--data-raw", "42 files") == '{"ok":true}'

        answer = await caller.got(f"/v1/monitors/{id_}/results")
        end, start = answer["data"]
        assert (start["status"], end["status"], end["body"]) == ("unknown", "up", "42 files")
        assert end["responseTime"] > 0


async def _made(caller: Caller, **config: Any) -> str:
    body = {"type": "heartbeat", "name": "backup", "config": config}
    return str((await caller.made("/v1/monitors", body))["id"])


async def _pushed(caller: Caller, **config: Any) -> str:
    """A monitor of metrics that a sample came for."""
    body = {"type": "prometheus", "name": "metrics", "config": config}
    id_ = str((await caller.made("/v1/monitors", body))["id"])
    shown = (await caller.got(f"/v1/monitors/{id_}"))["config"]
    sent = first((named("up", job="node"), int(time.time() * 1000), 1.0))
    headers = {**FIRST, "Authorization": f"Bearer {shown['authToken']}"}
    async with caller.session.post(shown["ingestUrl"], data=sent, headers=headers) as answer:
        assert answer.status == 204
    return id_


async def _url(product: Product, caller: Caller, id_: str) -> str:
    shown = str((await caller.got(f"/v1/monitors/{id_}"))["config"]["pingUrl"])
    return product.url + "/v1/ping/" + shown.rpartition("/")[2]


async def _curl(url: str, rest: str = "", *options: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "curl", "-fsS", "-m", "10", "--retry", "5", *options, url + rest, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def _open(caller: Caller) -> list[Any]:
    return list((await caller.got("/v1/incidents?status=open"))["data"])


async def _incidents(caller: Caller, number: int) -> bool:
    return len(await _open(caller)) == number


async def _is_down(caller: Caller, id_: str) -> bool:
    return bool((await caller.got(f"/v1/monitors/{id_}"))["status"] == "down")


async def _is_back(product: Product) -> bool:
    if not product.pids("collector"):
        return False
    await product.ready()
    return True
