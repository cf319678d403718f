"""The manual in a real browser: for everybody, on desktops and phones, with scripts or without."""

from collections.abc import AsyncIterator
from typing import Final, Literal

import pytest
from playwright.async_api import expect

from tests.browser.session import in_session_loop
from tests.browser.visits import Visitors
from tests.console.client import served
from tests.http.client import Api

PHONE, DESKTOP = (390, 844), (1280, 860)
# Tables, lists, code, long lines, a search with and without results.
PATHS: Final = (
    "/docs",
    "/docs/operations",
    "/docs/monitors/http",
    "/docs/when-is-it-down",
    "/docs/performance",
    "/docs/development",
    "/docs/search?q=quorum",
    "/docs/search?q=xyzzy",
)


@in_session_loop
async def url(api: Api) -> AsyncIterator[str]:
    async with served(api) as url:
        yield url


@pytest.mark.parametrize(
    ("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop in light", "phone in dark"]
)
async def test_everybody_can_read_it(
    url: str, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    visit = await visitors.visit(f"{url}/docs", size=size, scheme=scheme)
    faults = {}
    for path in PATHS:
        await visit.page.goto(url + path)
        faults[path] = [*(await visit.violations()), *(["too wide"] if await visit.overflow_px() else [])]

    assert {path: found for path, found in faults.items() if found} == {}
    assert visit.faults == []
    assert visit.elsewhere == []


async def test_without_scripts_it_is_searched_and_read(url: str, visitors: Visitors) -> None:
    visit = await visitors.visit(f"{url}/docs", scripts=False)
    page = visit.page

    await page.get_by_role("searchbox").fill("canaries gateway")
    await page.get_by_role("button", name="Search").click()
    await page.get_by_role("link", name="Canaries").click()

    await expect(page.get_by_role("heading", name="Canaries")).to_be_in_viewport()
    await page.get_by_role("navigation", name="Contents").get_by_role("link", name="Settings").first.click()
    await expect(page.locator("h1")).to_have_text("Commands and settings")


async def test_code_is_copied(url: str, visitors: Visitors) -> None:
    context = await visitors.context(permissions=["clipboard-read", "clipboard-write"])
    visit = await visitors.visit(f"{url}/docs/monitors/http", context)
    sample = visit.page.locator(".sample").first

    await sample.hover()
    await sample.get_by_role("button", name="Copy").click()
    await expect(sample.get_by_role("button", name="Copied")).to_be_visible()

    assert (await visit.page.evaluate("navigator.clipboard.readText()")).startswith(
        "monitors:\n  - name: Shop"
    )
