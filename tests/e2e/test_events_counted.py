"""Each event that the running product stores, by whatever way it came about, is counted once."""

from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.product import Caller, Product, eventually, running
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

NAME: Final = 'tocsin_events_total{kind="'


async def test_deeds_and_outages_are_counted_as_they_are_stored(tmp_path: Path) -> None:
    async with (
        receiving(always=answer(503)) as target,
        receiving() as hook,
        running(tmp_path) as (product, caller),
    ):
        config = {"url": hook.url(), "events": ["monitor.down", "monitor.up", "incident.acknowledged"]}
        await caller.made("/v1/alert-channels", {"name": "hook", "type": "webhook", "config": config})
        body = {
            "name": "shop",
            "type": "http",
            "interval": 1,
            "timeout": 1,
            "config": {"url": target.url("/")},
        }
        monitor = await caller.made("/v1/monitors", body)
        await hook.wait_for(1, timeout_s=30)
        [incident] = (await caller.got("/v1/incidents"))["data"]

        await caller.call("POST", f"/v1/incidents/{incident['id']}/acknowledge")
        await caller.call("PUT", f"/v1/monitors/{monitor['id']}", {"name": "till"})
        await hook.wait_for(2, timeout_s=30)
        await caller.call("DELETE", f"/v1/monitors/{monitor['id']}")
        receiveds = await hook.wait_for(3, timeout_s=30)

        kinds = [received.headers["x-service-event"] for received in receiveds]
        assert kinds == ["monitor.down", "incident.acknowledged", "monitor.up"]
        stored = await _stored(product)
        assert {"monitor.updated", "monitor.deleted", "incident.resolved"} < stored.keys()
        await eventually(lambda: _is(caller, stored))


async def _stored(product: Product) -> Counter[str]:
    connection = await product.connect()
    try:
        rows = await connection.fetch("SELECT kind, count(*) AS n FROM events GROUP BY kind")
    finally:
        await connection.close()
    return Counter({row["kind"]: row["n"] for row in rows})


async def _is(caller: Caller, stored: Counter[str]) -> Any:
    async with caller.session.get(caller.product.url + "/metrics") as response:
        lines = (await response.text()).splitlines()
    counted = Counter[str]()
    for line in lines:
        if line.startswith(NAME):
            kind, _, number = line.removeprefix(NAME).partition('"} ')
            counted[kind] = int(float(number))
    return counted == stored
