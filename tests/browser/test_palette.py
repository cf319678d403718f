"""The command palette in a real browser, by the keyboard alone."""

from typing import Any, Literal

import pytest
from playwright.async_api import expect

from tests.browser.test_console_monitors import PHONE, made, raised, signed_in
from tests.browser.visits import Visitors
from tests.console.client import served, visiting
from tests.http.client import Api


async def test_a_monitor_is_opened_by_the_keyboard_alone(api: Api, visitors: Visitors) -> None:
    await made(api, "Orders website")
    orders = await made(api, "Orders API")
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        keyboard, chosen = visit.page.keyboard, visit.page.locator("#palette [aria-selected=true]")
        await keyboard.press("Control+k")
        await expect(visit.page.locator("#palette-q")).to_be_focused()
        await keyboard.type("orders")
        await expect(chosen).to_contain_text("Orders API")
        await keyboard.press("ArrowDown")
        await expect(chosen).to_contain_text("Orders website")
        await keyboard.press("ArrowUp")
        await keyboard.press("Enter")

        await visit.page.wait_for_url(f"**/monitors/{orders}")
        assert visit.faults == []


async def test_enter_waits_for_the_results_of_what_was_typed(api: Api, visitors: Visitors) -> None:
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        await visit.page.keyboard.press("Control+k")
        await visit.page.keyboard.type("new monitor")
        await visit.page.keyboard.press("Enter")

        await visit.page.wait_for_url("**/monitors/new")


@pytest.mark.parametrize(
    ("size", "scheme"),
    [pytest.param((1280, 900), "light", id="desktop"), pytest.param(PHONE, "dark", id="phone")],
)
async def test_everybody_can_use_it(
    api: Api, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    await made(api, "Shop", group="Checkout")
    await raised(api, "Shop is slow")
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, size=size, scheme=scheme)
        await visit.page.click("[data-palette]")
        await visit.page.keyboard.type("shop")
        await expect(visit.page.locator("#palette [role=option]")).to_have_count(2)
        assert await visit.violations() == []
        await visit.page.keyboard.press("Escape")
        await expect(visit.page.locator("#palette")).to_be_hidden()
        await visit.page.goto(url + "/search?q=shop")
        assert await visit.violations() == []
        assert await visit.overflow_px() == 0
        assert visit.faults == []


async def test_without_scripts_the_field_leads_to_a_page(api: Api, visitors: Visitors) -> None:
    options: dict[str, Any] = {"scripts": False}
    shop = await made(api, "Shop")
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, **options)
        await visit.page.click("[data-palette]")
        await visit.page.fill("#q", "shop")
        await visit.page.press("#q", "Enter")
        await visit.page.click("main a:has-text('Shop')")

        assert visit.page.url == f"{url}/monitors/{shop}"
