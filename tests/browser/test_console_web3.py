"""Web3 monitors in a real browser: for everybody, live, and nothing that a chain says runs."""

from typing import Literal

import pytest
from playwright.async_api import expect

from collector.events.storage import events
from collector.events.storage.events import Event
from shared import ids
from tests.browser.test_console_monitors import HOSTILE, PHONE, signed_in
from tests.browser.visits import Visitors
from tests.console.client import served, visiting
from tests.events.payloads import payload_of
from tests.http.client import Api
from tests.web3.console.test_console_web3 import ADDRESS, RPC, found, made

CONFIG = {"chain": "ethereum", "address": ADDRESS, "threshold": 5, "rpcUrl": RPC}


@pytest.mark.parametrize(
    ("size", "scheme"),
    [pytest.param((1280, 900), "light", id="desktop"), pytest.param(PHONE, "dark", id="phone")],
)
async def test_everybody_can_use_it_on_any_screen_and_nothing_of_it_runs(
    api: Api, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    async with served(api) as url, visiting(url, api) as console:
        id_ = await made(console, type="whale_wallet", config=CONFIG)
        await found(console, id_, HOSTILE)
        visit = await signed_in(url, console, visitors, size=size, scheme=scheme)
        for path in (
            f"/monitors/{id_}", f"/monitors/{id_}/edit", "/monitors/new?type=bridge",
            "/monitors/new?type=web3_contract_event", "/monitors/new?type=gas_price",
        ):  # fmt: skip
            await visit.page.goto(url + path)
            assert await visit.violations() == [], path
            assert await visit.overflow_px() == 0, path
        assert (visit.dialogs, visit.elsewhere, visit.faults) == ([], [], [])


async def test_a_crossed_threshold_is_on_the_open_page_without_a_reload(api: Api, visitors: Visitors) -> None:
    async with served(api) as url, visiting(url, api) as console:
        id_ = await made(console, type="whale_wallet", config=CONFIG)
        visit = await signed_in(url, console, visitors)
        async with visit.page.expect_response(lambda answer: "/events" in answer.url):
            await visit.page.goto(f"{url}/monitors/{id_}")
        await expect(visit.page.get_by_text("No threshold is crossed.")).to_be_visible()

        await found(console, id_)
        monitor_id = ids.read("mon", id_)
        assert monitor_id is not None
        async with api.context.db.transaction() as tx:
            event = Event(api.team_id, monitor_id, "web3.alert", payload_of({"event": "web3.alert"}))
            await events.append_all(tx, [event], api.clock())

        await expect(visit.page.get_by_text("Transfer gas costs 9 gwei")).to_be_visible()
