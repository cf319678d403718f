"""The days of a component in a real browser: named by mouse and by touch, and printed as they are seen."""

import re
from typing import Final

import pytest
from playwright.async_api import Locator, Page, expect

from collector.status_pages.api import cache
from collector.status_pages.web.words import LANGUAGES
from tests.browser.status_world import calm, measured, outage, told
from tests.browser.visits import Visitors
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page

PHONE: Final = (390, 844)
BAD_DAY: Final = 20


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


async def middle(days: Locator, ago: int) -> tuple[float, float]:
    """The middle of the bar of the day so many days *ago*."""
    await days.scroll_into_view_if_needed()
    box = await days.bounding_box()
    assert box is not None
    return box["x"] + box["width"] * (90 - ago - 0.5) / 90, box["y"] + box["height"] / 2


async def with_one_bad_day(api: Api) -> None:
    shop = await measured(api, bad={BAD_DAY: 0.5})
    await page(api, name="Example", slug="example", components=[{"name": "Shop", "monitorId": shop}])


async def within_the_window(tip: Locator, of: Page) -> bool:
    box, size = await tip.bounding_box(), of.viewport_size
    return box is not None and size is not None and box["x"] >= 0 and box["x"] + box["width"] <= size["width"]


async def test_a_touch_on_a_day_shows_its_date_and_uptime(api: Api, visitors: Visitors) -> None:
    await with_one_bad_day(api)
    visit = await visitors.visit(f"{api.url}/status/example", size=PHONE, has_touch=True)
    tip, days = visit.page.locator(".tip"), visit.page.locator(".days")
    await expect(tip).to_be_hidden()

    await visit.page.touchscreen.tap(*await middle(days, BAD_DAY))
    await expect(tip).to_have_text(re.compile(r"\d{4}.*50\.00%"))
    assert await within_the_window(tip, visit.page)

    await visit.page.touchscreen.tap(*await middle(days, 0))
    await expect(tip).not_to_have_text(re.compile(r"50\.00"))
    assert await within_the_window(tip, visit.page)

    await visit.page.locator("h1").tap()
    await expect(tip).to_be_hidden()
    assert await visit.overflow_px() == 0
    assert visit.faults == []


async def test_a_day_names_the_incidents_that_affected_the_component(api: Api, visitors: Visitors) -> None:
    shop, mail = await measured(api), await measured(api)
    components = [{"name": "Shop", "monitorId": shop}, {"name": "Mail", "monitorId": mail}]
    made = await page(api, name="Example", slug="example", components=components)
    await told(api, made, title="Smoke <b>", affectedComponents=[made["components"][0]["id"]])
    await told(api, made, title="Fire")
    visit = await visitors.visit(f"{api.url}/status/example")
    tip = visit.page.locator(".tip")

    await visit.page.mouse.move(*await middle(visit.page.locator(".days").first, 0))
    await expect(tip).to_have_text(re.compile(r"\d{4}: 100%\s+Smoke <b>\s+Fire$"))

    await visit.page.mouse.move(*await middle(visit.page.locator(".days").last, 0))
    await expect(tip).to_have_text(re.compile(r"\d{4}: 100%\s+Fire$"))
    await expect(tip).not_to_contain_text("Smoke")

    await visit.page.mouse.move(*await middle(visit.page.locator(".days").first, 3))
    await expect(tip).not_to_contain_text("Fire")


async def test_days_run_from_right_to_left_where_the_script_does(api: Api, visitors: Visitors) -> None:
    await with_one_bad_day(api)
    visit = await visitors.visit(f"{api.url}/status/example?lang=ar")
    x, y = await middle(visit.page.locator(".days"), 89 - BAD_DAY)

    await visit.page.mouse.move(x, y)

    await expect(visit.page.locator(".tip")).to_contain_text(LANGUAGES["ar"].share(50.0))


async def test_a_mouse_sees_one_tooltip_and_not_the_browsers_too(api: Api, visitors: Visitors) -> None:
    await with_one_bad_day(api)
    visit = await visitors.visit(f"{api.url}/status/example")
    days = visit.page.locator(".days")

    await visit.page.mouse.move(*await middle(days, BAD_DAY))
    await expect(visit.page.locator(".tip")).to_have_text(re.compile(r"50\.00%"))
    assert await days.locator("title").count() == 0
    assert await visit.violations() == []

    await visit.page.mouse.move(1, 1)
    await expect(visit.page.locator(".tip")).to_be_hidden()


async def test_without_scripts_each_run_of_days_has_a_title(api: Api, visitors: Visitors) -> None:
    await with_one_bad_day(api)
    visit = await visitors.visit(f"{api.url}/status/example", scripts=False)

    titles = await visit.page.locator(".days title").all_text_contents()

    assert [title for title in titles if "50.00%" in title]


async def test_paper_shows_every_group_in_colour_and_nothing_to_press(api: Api, visitors: Visitors) -> None:
    made = await calm(api)
    await outage(api, made)
    components = [{"name": f"System {n}", "group": f"Region {n // 10}"} for n in range(40)]
    await page(api, name="Many", slug="many", components=components)
    visit = await visitors.visit(f"{api.url}/status/many", scheme="dark")
    groups = visit.page.locator("details.group")
    assert await groups.count() == 4
    assert await visit.page.locator("details.group[open]").count() == 0

    await visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    await visit.page.emulate_media(media="print", color_scheme="dark")

    assert await visit.page.locator("details.group[open]").count() == 4
    await expect(visit.page.locator("footer .links")).to_be_hidden()
    assert (
        await visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    )
    mark = visit.page.locator(".banner .mark")
    assert await mark.evaluate("mark => getComputedStyle(mark).printColorAdjust") == "exact"

    await visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert await visit.page.locator("details.group[open]").count() == 0
