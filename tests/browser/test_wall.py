"""The wall in a real browser: read by everybody, on a phone and across a room, and loaded anew by itself."""

from collections.abc import AsyncIterator
from typing import Any, Final, Literal

import pytest
from playwright.async_api import expect

from collector.overview.service import wall_links
from collector.platform.access import Actor
from tests.browser.session import in_session_loop
from tests.browser.visits import Visitors
from tests.console.client import Console, served, visiting
from tests.http.client import Api

PUBLIC_URL: Final = "http://tocsin.example.com"
TCP: Final[dict[str, Any]] = {"type": "tcp", "config": {"host": "192.0.2.1", "port": 443}}


@in_session_loop
async def console(api: Api) -> AsyncIterator[Console]:
    async with served(api, public_url=PUBLIC_URL) as url, visiting(url, api) as browser:
        yield browser


async def monitor(api: Api, name: str, *, down: bool = False) -> None:
    """A monitor that was checked just now, and found so."""
    assert (await api.post("/v1/monitors", {"name": name, "group": "Web", **TCP})).status == 201
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE states SET last_at = now(), last_status = 1 WHERE last_at IS NULL")
        await tx.execute("UPDATE monitors SET down = $2 WHERE name = $1", name, down)


async def link(api: Api) -> tuple[Actor, wall_links.NewWallLink]:
    who = Actor(api.team_id, None, "Somebody")
    return who, await wall_links.create(api.context.db, who, {"name": "Lobby"}, api.clock())


@pytest.mark.parametrize("size", [(1920, 1080), (390, 844)], ids=["across a room", "on a phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_everybody_can_read_it(
    console: Console, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    _, made = await link(console.api)
    for name in ("Shop", "Checkout", "A name that is longer than a phone is wide, and goes on for a while"):
        await monitor(console.api, name, down=name != "Shop")

    visit = await visitors.visit(
        f"{console.url}/wall/{made.secret}", await visitors.context(size=size, scheme=scheme)
    )

    await expect(visit.page.get_by_role("heading", level=1)).to_have_text("2 monitors are down")
    assert await visit.violations() == []
    assert await visit.overflow_px() == 0
    assert visit.faults == []
    assert visit.elsewhere == []


async def test_it_follows_its_monitors_until_its_link_is_ended(console: Console, visitors: Visitors) -> None:
    who, made = await link(console.api)
    await monitor(console.api, "Shop")
    context = await visitors.context()
    await context.clock.install()
    visit = await visitors.visit(f"{console.url}/wall/{made.secret}", context)
    page, icon = visit.page, visit.page.locator("link[rel=icon]")
    await expect(page).to_have_title("Wall · Tocsin")

    await monitor(console.api, "Checkout", down=True)
    await page.clock.fast_forward(11_000)
    await expect(page.get_by_role("listitem")).to_contain_text("Checkout")
    await expect(page).to_have_title("(1) Wall · Tocsin")
    assert "bell-bad" in str(await icon.get_attribute("href"))

    await wall_links.end(console.api.context.db, who, made.link.id)
    await page.clock.fast_forward(11_000)
    await expect(page.get_by_role("main")).to_contain_text("This link has ended")


async def test_it_says_when_it_is_no_more_up_to_date(console: Console, visitors: Visitors) -> None:
    _, made = await link(console.api)
    context = await visitors.context()
    await context.clock.install()
    page = (await visitors.visit(f"{console.url}/wall/{made.secret}", context)).page

    await context.set_offline(offline=True)
    for failed in (1, 2):
        async with page.expect_event("requestfailed"):
            await page.clock.fast_forward(11_000)
        await expect(page.locator("body.stale")).to_have_count(failed - 1)
    await context.set_offline(offline=False)
    await page.clock.fast_forward(11_000)
    await expect(page.locator("body.stale")).to_have_count(0)
