"""The collector's own numbers move with what happens."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Caller, eventually, running
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def test_every_step_from_a_probe_to_a_delivery_is_counted(tmp_path: Path) -> None:
    async with (
        receiving(always=answer(503)) as target,
        receiving(answer(500)) as hook,
        running(tmp_path) as (product, caller),
    ):
        channel = {"name": "hook", "type": "webhook", "config": {"url": hook.url()}}
        await caller.made("/v1/alert-channels", channel)
        config = {"url": target.url("/")}
        monitor = {"name": "shop", "type": "http", "interval": 1, "timeout": 1, "config": config}
        await caller.made("/v1/monitors", monitor)
        await hook.wait_for(2, timeout_s=20)

        async def delivered() -> Any:
            numbers = await _numbers(caller)
            return numbers if 'tocsin_deliveries_total{outcome="delivered"}' in numbers else None

        numbers = await eventually(delivered)
        assert numbers["tocsin_sessions"] == 1
        assert numbers["tocsin_results_committed_total"] >= 3
        assert numbers["tocsin_transactions_total"] >= 1
        assert numbers['tocsin_events_total{kind="monitor.down"}'] == 1
        assert numbers['tocsin_deliveries_total{outcome="pending"}'] == 1
        assert numbers['tocsin_deliveries_total{outcome="delivered"}'] == 1

        product.kill("collector")
        await product.ready()
        await eventually(lambda: _is(caller, "tocsin_sessions", 1))


async def _is(caller: Caller, name: str, value: float) -> bool:
    return (await _numbers(caller)).get(name) == value


async def _numbers(caller: Caller) -> dict[str, float]:
    async with caller.session.get(caller.product.url + "/metrics") as response:
        lines = (await response.text()).splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}
