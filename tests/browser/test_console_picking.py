"""Choosing monitors in a real browser, of more than a form shows: with scripts or without them."""

from collections.abc import AsyncIterator
from typing import Final

import pytest
from playwright.async_api import expect

from shared.clock import utc_now
from tests.browser.session import in_session_loop
from tests.browser.test_console_alerting import DESKTOP, PHONE, fine, sign_in
from tests.browser.visits import Visitors
from tests.console.client import Console, served, visiting
from tests.console.console.test_console_picking import MANY, monitor
from tests.http.client import Api
from tests.probes.ground import make_monitors

PUBLIC_URL: Final = "http://tocsin.example.com"
FIND: Final = "Search monitors"


@in_session_loop
async def console(api: Api) -> AsyncIterator[Console]:
    """A team with an old monitor, and more newer ones than a form shows."""
    async with served(api, public_url=PUBLIC_URL) as url, visiting(url, api) as browser:
        await monitor(browser, "Checkout")
        await make_monitors(api.context.db, api.team_id, MANY, now=utc_now())
        yield browser


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
async def test_an_old_monitor_is_found_and_the_rule_made_for_it(
    console: Console, visitors: Visitors, size: tuple[int, int], scripts: bool
) -> None:
    visit = await visitors.visit(f"{console.url}/alerting/rules/new", size=size, scripts=scripts)
    await sign_in(visit, console)
    page = visit.page
    await page.get_by_label("Name").fill("Shop is down")

    await page.get_by_label(FIND).fill("checkout")
    await page.get_by_label(FIND).press("Enter")
    await expect(page.get_by_text("1 monitor matches.")).to_be_visible()
    await page.get_by_label("Checkout").check()
    await page.get_by_label(FIND).fill("")
    await page.get_by_role("button", name="Search", exact=True).click()

    await expect(page.get_by_text("1 selected, at the top.")).to_be_visible()
    await expect(page.get_by_label("Checkout")).to_be_checked()
    await expect(page.get_by_label("Name")).to_have_value("Shop is down")
    if scripts:
        await fine(visit)
    await page.get_by_role("button", name="Create rule").click()
    await expect(page.get_by_text("Rule created.")).to_be_visible()
    [made] = (await console.api.get("/v1/alert-rules")).json["data"]
    assert len(made["monitors"]) == 1


async def test_enter_in_another_field_saves_as_in_every_form(console: Console, visitors: Visitors) -> None:
    visit = await visitors.visit(f"{console.url}/alerting/rules/new", size=DESKTOP)
    await sign_in(visit, console)

    await visit.page.get_by_label("Name").fill("Everything")
    await visit.page.get_by_label("Name").press("Enter")

    await expect(visit.page.get_by_text("Rule created")).to_be_visible()
