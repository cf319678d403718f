"""A monitor's form in a real browser: a type is found by a word, and the button is always in sight."""

from typing import Literal

import pytest
from playwright.async_api import expect

from tests.browser.test_console_monitors import PHONE, signed_in
from tests.browser.visits import Visitors
from tests.console.client import served, visiting
from tests.http.client import Api


async def test_a_type_is_found_by_a_word_and_chosen_by_enter(api: Api, visitors: Visitors) -> None:
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        await visit.page.goto(f"{url}/monitors/new")
        await expect(visit.page.locator("#f-name")).to_be_focused()
        await visit.page.click(".kinds summary")
        search = visit.page.locator("[data-kind-search]")
        await expect(search).to_be_focused()
        await search.fill("zebra")
        await expect(visit.page.locator("[data-no-kind]")).to_be_visible()
        await search.fill("certificate expires")
        await expect(visit.page.locator(".kind-cards li:visible")).to_have_count(1)
        async with visit.page.expect_navigation():
            await search.press("Enter")
        assert visit.page.url.endswith("type=tls")
        await expect(visit.page.locator(".kinds summary b")).to_have_text("TLS certificate")
        assert visit.faults == []


@pytest.mark.parametrize(
    ("size", "scheme"),
    [pytest.param((1280, 900), "light", id="desktop"), pytest.param(PHONE, "dark", id="phone")],
)
async def test_everybody_can_use_it_and_the_button_is_in_sight(
    api: Api, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    channel = {"name": "Ops", "type": "email", "config": {"recipients": ["ops@example.com"]}}
    await api.post("/v1/alert-channels", channel)
    rule = {"name": "down", "conditions": {"consecutiveFailures": 3}}
    await api.post("/v1/alert-rules", rule)
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, size=size, scheme=scheme)
        for path in (
            "/monitors/new",
            "/monitors/new?type=heartbeat",
            "/alerting/rules",
            "/alerting/rules/new",
        ):
            await visit.page.goto(url + path)
            for details in await visit.page.locator("details").all():
                await details.evaluate("each => { each.open = true; }")
            assert await visit.violations() == [], path
            assert await visit.overflow_px() == 0, path
            if path.startswith("/monitors"):
                await visit.page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
                await expect(visit.page.locator("[data-main]")).to_be_in_viewport(ratio=1)
        assert visit.faults == []
