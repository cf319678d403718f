"""A monitor's page in a real browser: tooltips, zoom by dragging, for everybody and without scripts."""

import re
from datetime import timedelta
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import expect

from shared.clock import utc_now
from tests.browser.test_console_monitors import PHONE, signed_in
from tests.browser.visits import Visitors
from tests.console.client import served, visiting
from tests.http.client import Api
from tests.monitors.monitors import make, number, result

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


async def measured(api: Api) -> str:
    """A monitor that was checked each minute of the last 50."""
    id_ = await make(api)
    monitor, now = await number(api, id_), utc_now()
    for at in range(1, 51):
        await result(api, monitor, now - at * MINUTE, ms=100 + at)
    return id_


async def test_a_step_has_a_tooltip_in_the_zone_of_the_viewer(api: Api, visitors: Visitors) -> None:
    id_ = await measured(api)
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, zone="Asia/Tokyo")
        await visit.page.goto(f"{url}/monitors/{id_}?range=1h")
        step = visit.page.locator("#response .step").nth(20)
        await step.hover()
        tip = visit.page.locator(".tip")
        await expect(tip).to_be_visible()
        await expect(tip).to_contain_text("local: 1")
        # The step is of the last hour, which may have begun yesterday there.
        days = {(utc_now() + timedelta(hours=9) - ago).strftime("%-d %b") for ago in (HOUR, timedelta())}
        await expect(tip.locator("b")).to_contain_text(re.compile("|".join(sorted(days))))
        await expect(visit.page.locator("#response [data-zone]")).to_have_text("Times in Asia/Tokyo")
        day = visit.page.locator("[data-days] a").last
        await day.hover()
        await expect(tip).to_contain_text("not measured")
        assert visit.faults == []


async def test_dragging_over_the_chart_zooms_into_what_was_dragged_over(api: Api, visitors: Visitors) -> None:
    id_ = await measured(api)
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        await visit.page.goto(f"{url}/monitors/{id_}?range=24h&lines=p99")
        field = visit.page.locator("#response .graph")
        await field.scroll_into_view_if_needed()
        box = await field.bounding_box()
        assert box is not None
        await visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 80)
        await visit.page.mouse.down()
        await visit.page.mouse.move(box["x"] + box["width"] - 1, box["y"] + 80, steps=5)
        async with visit.page.expect_navigation():
            await visit.page.mouse.up()
        query = parse_qs(urlsplit(visit.page.url).query)
        assert query["lines"] == ["p99"]
        assert "range" not in query
        await expect(visit.page.locator("#response .ranges [aria-current]")).to_have_count(0)
        assert await visit.page.locator("#response .step").count() > 40
        assert visit.faults == []


@pytest.mark.parametrize(
    ("size", "scheme"),
    [pytest.param((1280, 900), "light", id="desktop"), pytest.param(PHONE, "dark", id="phone")],
)
async def test_everybody_can_use_the_page_and_nothing_of_it_shifts(
    api: Api, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    id_ = await measured(api)
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, size=size, scheme=scheme)
        for query in ("range=1h", "range=7d&compare=week&lines=all", "by=location"):
            await visit.page.goto(f"{url}/monitors/{id_}?{query}")
            await visit.page.evaluate("document.querySelector('#view').open = true")
            assert await visit.violations() == [], query
            assert await visit.overflow_px() == 0, query
        assert visit.faults == []


async def test_without_scripts_the_chart_is_whole(api: Api, visitors: Visitors) -> None:
    id_ = await measured(api)
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, scripts=False)
        await visit.page.goto(f"{url}/monitors/{id_}")
        await expect(visit.page.locator("#response .line.p50")).to_be_attached()
        await expect(visit.page.locator("#response .zone")).to_have_text("Times in UTC")
        await visit.page.click("#view summary")
        await visit.page.select_option("#by", "location")
        await visit.page.click("#view form:first-of-type button")
        await expect(visit.page.locator("#response .line.series-0")).to_be_attached()
