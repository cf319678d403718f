"""The running product tells whoever watches it that all is well, once however many processes collect."""

from pathlib import Path

import pytest

from tests.e2e.product import eventually, running
from tests.receiver import receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


async def test_a_started_product_with_a_probe_pings_and_counts_it(tmp_path: Path) -> None:
    async with receiving() as watcher:
        url = watcher.url("/ping/hush-hush")
        async with running(tmp_path, DEADMAN_URL=url, LOG_LEVEL="debug", WORKERS="2") as (product, caller):
            [ping] = await watcher.wait_for(1, timeout_s=30)
            assert (ping.method, ping.target, ping.headers["user-agent"]) == (
                "GET",
                "/ping/hush-hush",
                "Tocsin",
            )

            async def said() -> bool:
                return "pings that all is well" in product.log.read_text()

            await eventually(said)
            async with caller.session.get(product.url + "/metrics") as response:
                assert response.status == 200
                assert "tocsin_deadman_pings_total" in await response.text()
        assert len(watcher.received) == 1
        assert "hush-hush" not in product.log.read_text()
