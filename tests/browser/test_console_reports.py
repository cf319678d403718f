"""The console's reports in a real browser: made, read on a desk, on a telephone and on paper."""

from collections.abc import AsyncIterator
from typing import Final

from playwright.async_api import ViewportSize, expect

from tests.browser.session import in_session_loop
from tests.browser.test_console_alerting import DESKTOP, PHONE, PUBLIC_URL, fine, sign_in
from tests.browser.visits import Visitors
from tests.console.client import Console, served, visiting
from tests.http.client import Api
from tests.reports.history import lived, reported, work

# The width of A4 within its margins.
PAPER: Final[ViewportSize] = {"width": 688, "height": 1000}


@in_session_loop
async def console(api: Api) -> AsyncIterator[Console]:
    async with served(api, public_url=PUBLIC_URL) as url, visiting(url, api) as browser:
        yield browser


async def test_a_report_is_made_and_read_by_everybody(console: Console, visitors: Visitors) -> None:
    known = await lived(console.api, "Shop")
    await lived(console.api, "Bank")
    content = await reported(
        console.api, {**known.body, "businessHours": "Mo-Su 08:00-18:00", "target": 99.9}
    )
    visit = await visitors.visit(f"{console.url}/reports", size=DESKTOP)
    await sign_in(visit, console)
    page = visit.page
    await fine(visit)
    await page.get_by_role("link", name="New report").click()
    await fine(visit)
    await page.get_by_label("Name", exact=True).fill("Monthly")
    await page.get_by_role("button", name="Create", exact=True).click()
    await page.get_by_role("button", name="Compute for that day").click()
    await expect(page.get_by_role("row", name="pending")).to_be_visible()
    await work(console.api)
    await fine(visit)

    path = content["path"].removeprefix("/v1")
    for size in (DESKTOP, PHONE):
        await page.set_viewport_size({"width": size[0], "height": size[1]})
        await page.goto(f"{console.url}{path}")
        await expect(page.get_by_role("heading", name="How it was accounted for")).to_be_visible()
        await fine(visit)
    await page.set_viewport_size(PAPER)
    await page.emulate_media(media="print")
    await expect(page.get_by_role("link", name="PDF")).to_be_hidden()
    assert await visit.overflow_px() <= 0
    assert visit.refused == []
