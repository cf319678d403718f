"""A status page that stays open: up to date, in the visitor's zone and language, with scripts or without."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web
from playwright.async_api import BrowserContext, Locator, expect

from collector.status_pages.api import cache
from collector.status_pages.cli import put
from collector.status_pages.service import view as status_pages_view
from collector.status_pages.web import copy
from collector.status_pages.web.words import ENGLISH, LANGUAGES
from tests.browser.session import in_session_loop
from tests.browser.status_world import calm, measured, outage, planned
from tests.browser.visits import Visit, Visitors
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page

ROUND: Final = 16_000  # milliseconds: a little longer than the script waits between two looks
MOST_BYTES: Final = 50_000


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 0.0)
    monkeypatch.setattr(cache, "DRAWN_S", 0.0)


@in_session_loop
async def context(visitors: Visitors) -> BrowserContext:
    """Somebody whose clock goes as the test says."""
    context = await visitors.context()
    await context.clock.install()
    return context


def address(api: Api, path: str = "example") -> str:
    return f"{api.url}/status/{path}"


async def after_a_round(visit: Visit) -> None:
    async with visit.page.expect_response(re.compile("/status/example$")):
        await visit.page.clock.fast_forward(ROUND)


async def test_an_open_page_tells_of_what_happens(
    api: Api, visitors: Visitors, context: BrowserContext
) -> None:
    made = await calm(api)
    visit = await visitors.visit(address(api), context)
    summary = visit.page.locator("summary").first
    await summary.click()
    await summary.focus()
    await outage(api, made)

    await after_a_round(visit)

    await expect(visit.page.get_by_text("Nothing can be bought")).to_be_visible()
    await expect(visit.page.locator(".banner", has_text="Major outage")).to_be_visible()
    await expect(visit.page.locator("details").first).to_have_attribute("open", "")
    await expect(visit.page.locator("summary").first).to_be_focused()
    assert visit.faults == []
    assert await visit.violations() == []


async def test_a_look_at_what_stayed_the_same_brings_nothing(
    api: Api, visitors: Visitors, context: BrowserContext
) -> None:
    await calm(api)
    visit = await visitors.visit(address(api), context)
    await after_a_round(visit)
    await visit.page.evaluate("document.querySelector('main').dataset.kept = 'yes'")

    async with visit.page.expect_response(re.compile("/status/example$")) as looked:
        await visit.page.clock.fast_forward(ROUND)

    assert (await looked.value).status == 304
    await expect(visit.page.locator("main")).to_have_attribute("data-kept", "yes")
    assert visit.faults == []


async def test_a_page_that_cannot_be_brought_up_to_date_says_so_and_recovers(
    api: Api, visitors: Visitors, context: BrowserContext
) -> None:
    await calm(api)
    visit = await visitors.visit(address(api), context)
    stale = visit.page.get_by_text(ENGLISH.stale)
    await context.route("**/status/example", lambda route: route.abort())
    await _until(visit, stale, visible=True)
    await context.unroute("**/status/example")

    await _until(visit, stale, visible=False)

    await expect(visit.page.get_by_text("All systems operational")).to_be_visible()


async def _until(visit: Visit, line: Locator, *, visible: bool) -> None:
    """Let minutes go by; the looks that they bring take a moment of real time."""
    async with asyncio.timeout(30):
        while await line.is_visible() != visible:
            await visit.page.clock.run_for(10 * ROUND)
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("locale", "zone"), [("ja-JP", "Asia/Tokyo"), ("de-AT", "Europe/Vienna"), ("xx", "America/Lima")]
)
async def test_it_speaks_the_visitors_language_and_zone(
    api: Api, visitors: Visitors, locale: str, zone: str
) -> None:
    await planned(api, await calm(api))

    visit = await visitors.visit(address(api), locale=locale, zone=zone)

    tag = locale[:2] if locale[:2] in LANGUAGES else "en"
    await expect(visit.page.locator("html")).to_have_attribute("lang", tag)
    await expect(visit.page.locator("h2", has_text=LANGUAGES[tag].planned)).to_be_visible()
    times = await visit.page.locator("main time").all_inner_texts()
    assert times
    assert not [text for text in times if text.endswith("UTC")]
    assert await visit.violations() == []


async def test_a_visitor_chooses_another_zone_which_is_kept(api: Api, visitors: Visitors) -> None:
    await planned(api, await calm(api))
    visit = await visitors.visit(address(api), zone="Europe/Vienna")
    time = visit.page.locator("main time").first
    before, zone = await time.inner_text(), visit.page.locator("#zone")

    await zone.select_option("Asia/Tokyo")
    await expect(time).to_contain_text("GMT+9")
    await visit.page.reload()
    await expect(zone).to_have_value("Asia/Tokyo")
    await expect(time).to_contain_text("GMT+9")
    assert await visit.violations() == []

    await zone.select_option("")
    await expect(time).to_have_text(before)


async def test_a_visitor_chooses_another_language(api: Api, visitors: Visitors) -> None:
    await outage(api, await calm(api))
    visit = await visitors.visit(address(api), locale="de-AT", size=(390, 844))

    await visit.page.locator("#lang").select_option("he")
    await visit.page.locator(".choices button").click()
    await expect(visit.page.locator("html")).to_have_attribute("dir", "rtl")
    await visit.page.goto(f"{address(api)}/history")

    await expect(visit.page.locator("html")).to_have_attribute("lang", "he")
    assert await visit.overflow_px() == 0
    assert await visit.violations() == []
    assert visit.faults == []


@pytest.mark.parametrize("tag", LANGUAGES)
async def test_nothing_is_missing_without_scripts(api: Api, visitors: Visitors, tag: str) -> None:
    made = await calm(api)
    await outage(api, made)
    await planned(api, made)

    visit = await visitors.visit(address(api), locale=tag, scripts=False, zone="Asia/Tokyo", size=(390, 844))

    words = LANGUAGES[tag]
    text = await visit.text()
    for said in (
        words.overall["major_outage"],
        words.now,
        words.planned,
        words.shown["operational"],
        "A disk is full",
    ):
        assert said in text
    assert all(one.endswith("UTC") for one in await visit.page.locator("time").all_inner_texts())
    await visit.page.locator("summary").first.click()
    await expect(visit.page.locator("svg.chart").first).to_be_visible()
    assert await visit.overflow_px() == 0


async def test_it_weighs_little(api: Api, visitors: Visitors) -> None:
    monitor = await measured(api, bad={day: day / 1_000 for day in range(1, 60, 3)})
    components = [{"name": f"System number {n}", "monitorId": monitor} for n in range(50)]
    await page(api, slug="example", components=components)

    visit = await visitors.visit(address(api))

    weight = await visit.page.evaluate(
        "performance.getEntries().reduce((sum, one) => sum + (one.transferSize || 0), 0)"
    )
    assert 5_000 < weight < MOST_BYTES


@in_session_loop
async def elsewhere(tmp_path: Path) -> AsyncIterator[str]:
    """Another web host, which serves files from a folder."""
    app = web.Application()
    app.router.add_static("/", tmp_path)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_a_copy_is_whole_on_any_web_host(
    api: Api, visitors: Visitors, tmp_path: Path, elsewhere: str
) -> None:
    await outage(api, await calm(api, branding={"customCss": "h1{letter-spacing:1px}"}))
    view = await status_pages_view.load(api.context.db, "slug", "example", api.clock())
    assert view is not None
    put(tmp_path / "copy", copy.files(view, elsewhere, ENGLISH))

    visit = await visitors.visit(f"{elsewhere}/copy/index.html")
    await visit.page.get_by_text("All incidents").click()
    await expect(visit.page.get_by_text("Checkout is slow")).to_be_visible()
    await visit.page.get_by_text("Status now").click()

    assert (visit.faults, visit.elsewhere) == ([], [])
    assert await visit.violations() == []


async def test_the_widget_stands_in_the_page_of_another(
    api: Api, visitors: Visitors, tmp_path: Path, elsewhere: str
) -> None:
    await outage(api, await calm(api))
    frames = "".join(
        f'<iframe title="{path}" src="{address(api, path)}"></iframe>'
        for path in ("example/widget", "example")
    )
    (tmp_path / "other.html").write_text(f"<!doctype html><title>Other</title>{frames}")

    visit = await visitors.visit(f"{elsewhere}/other.html")

    widget, whole = (frame for frame in visit.page.frames if frame != visit.page.main_frame)
    await expect(widget.get_by_text("Major outage")).to_be_visible()
    assert await whole.locator("main").count() == 0


async def test_a_form_and_what_came_of_it_stay_as_they_are(
    api: Api, visitors: Visitors, context: BrowserContext
) -> None:
    await page(api, slug="example", visibility="private", password="sesame")
    visit = await visitors.visit(address(api), context)
    await visit.page.fill("#password", "wrong")
    await visit.page.click("button")
    await expect(visit.page.get_by_role("alert")).to_be_visible()
    asked = visit.requests.count(address(api))  # the icon may come when it likes

    await visit.page.clock.run_for(10 * ROUND)
    await visit.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    await expect(visit.page.get_by_role("alert")).to_be_visible()
    assert visit.requests.count(address(api)) == asked
    assert await visit.violations() == []
