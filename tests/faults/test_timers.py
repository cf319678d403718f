"""kill -9 of everything while an escalation and a reminder wait: both come when they are due, once."""

from pathlib import Path

import pytest

from tests.e2e.holding import row
from tests.e2e.product import eventually, running
from tests.receiver import answer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


async def test_timers_survive(tmp_path: Path) -> None:
    async with running(tmp_path) as (product, caller), row("shop", product, caller) as one:
        one.breaks()
        await one.hears(["Down"], [], ["monitor.down"])
        product.kill("up", "collector", "probe", "postgres")
        product.start()
        await product.ready()
        product.kill("collector")
        await product.ready()
        # They are due a minute after the notice, whatever has died since.
        await one.hears_nothing_new(30)

        async def told() -> bool:
            return bool(one.said_to_boss()) and len(one.said()) > 1

        await eventually(told, timeout_s=60)
        await one.hears_nothing_new(10)
        assert (one.said(), one.said_to_boss()) == (["Down", "Down"], ["Escalation 1"])
        assert one.events("monitor.down", "monitor.up") == ["monitor.down"]
        one.target.always = answer(200)
        await one.all_hear_the_end()
