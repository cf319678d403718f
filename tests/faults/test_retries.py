"""kill -9 of everything between the tries of a webhook: the retries go on where they were."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import Caller, eventually, running
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def test_retries_go_on_where_they_were(tmp_path: Path) -> None:
    async with (
        receiving(always=answer(503)) as target,
        receiving(answer(500), answer(500)) as hook,
        running(tmp_path) as (product, caller),
    ):
        channel = await caller.made(
            "/v1/alert-channels", {"name": "hook", "type": "webhook", "config": {"url": hook.url()}}
        )
        config = {"url": target.url("/")}
        await caller.made(
            "/v1/monitors", {"name": "shop", "type": "http", "interval": 1, "timeout": 1, "config": config}
        )
        # One try has failed and is on record; the next is a second away, the one after it five.
        await eventually(lambda: _tries(caller, channel["id"], failed=1))
        product.kill("up", "collector", "probe", "postgres")
        product.start()
        await product.ready()
        await eventually(lambda: _tries(caller, channel["id"], failed=2))
        product.kill("collector")
        await product.ready()

        [delivery] = await eventually(lambda: _delivered(caller, channel["id"]), timeout_s=30)
        assert [attempt["statusCode"] for attempt in delivery["attempts"]] == [500, 500, 200]
        assert len(hook.received) == 3
        assert len({got.body for got in hook.received}) == 1
        assert {got.headers["webhook-id"] for got in hook.received} == {delivery["eventId"]}
        assert len((await caller.got("/v1/incidents"))["data"]) == 1


async def _deliveries(caller: Caller, channel: str) -> list[Any]:
    return list((await caller.got(f"/v1/alert-channels/{channel}/deliveries"))["data"])


async def _tries(caller: Caller, channel: str, *, failed: int) -> bool:
    found = await _deliveries(caller, channel)
    return bool(found) and sum(attempt["statusCode"] == 500 for attempt in found[0]["attempts"]) == failed


async def _delivered(caller: Caller, channel: str) -> list[Any]:
    return [delivery for delivery in await _deliveries(caller, channel) if delivery["status"] == "delivered"]
