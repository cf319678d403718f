"""The API's documentation in a real browser: read by everybody, tried by users of the console."""

import json
import re
from collections.abc import AsyncIterator
from typing import Literal

import pytest
from playwright.async_api import BrowserContext, Locator, expect

from tests.browser.session import in_session_loop
from tests.browser.visits import Visit, Visitors
from tests.console.client import PASSWORD, Console, served, visiting
from tests.http.client import Api

PHONE, DESKTOP = (390, 844), (1280, 900)
MONITORS, OTHERS = "/v1/docs?subject=monitors", "/v1/docs?subject=monitors-2"


@in_session_loop
async def console(api: Api) -> AsyncIterator[Console]:
    async with served(api) as url, visiting(url, api) as browser:
        yield browser


async def signed_in(
    console: Console,
    visitors: Visitors,
    path: str,
    role: Literal["admin", "viewer"] = "admin",
    context: BrowserContext | None = None,
) -> Visit:
    """A new user's visit to *path*, by way of the link to sign in that strangers have there."""
    user = await console.person(role)
    visit = await visitors.visit(console.url + path, context)
    await visit.page.get_by_role("link", name="Sign in").click()
    await visit.page.fill("#email", user.email)
    await visit.page.fill("#password", PASSWORD)
    await visit.page.get_by_role("button", name="Sign in", exact=True).click()
    await visit.page.wait_for_url(console.url + path)
    return visit


async def opened(visit: Visit, operation: str) -> Locator:
    article = visit.page.locator(f"article#{operation}")
    await article.get_by_text("Try it", exact=True).click()
    return article


async def shown_json(article: Locator) -> dict[str, object]:
    text = await article.locator(".result pre").inner_text()
    answer: dict[str, object] = json.loads(text)
    assert text == json.dumps(answer, indent=2, ensure_ascii=False)
    return answer


@pytest.mark.parametrize(
    ("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark"), (DESKTOP, "dark"), (PHONE, "light")]
)
async def test_everybody_can_read_and_try_it(
    console: Console, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    context = await visitors.context(size=size, scheme=scheme)
    visit = await signed_in(console, visitors, MONITORS, context=context)
    article = await opened(visit, "listMonitors")
    await article.get_by_role("button", name="Send GET").click()
    await expect(article.get_by_role("status")).to_contain_text("200 OK in ")
    faults = {}
    for path in ("", "/v1/docs", "/v1/docs?subject=access"):
        if path:
            await visit.page.goto(console.url + path)
        faults[path] = [*(await visit.violations()), *(["too wide"] if await visit.overflow_px() else [])]

    assert {path: found for path, found in faults.items() if found} == {}
    assert visit.faults == []
    assert visit.elsewhere == []


async def test_a_read_shows_status_headers_time_and_formatted_json(
    console: Console, visitors: Visitors
) -> None:
    visit = await signed_in(console, visitors, MONITORS)
    article = await opened(visit, "listMonitors")

    await article.get_by_label("limit").fill("7")
    await article.get_by_role("button", name="Send GET").click()

    result = article.get_by_role("status")
    await expect(result).to_contain_text(re.compile(r"200 OK in \d+ ms"))
    await expect(result).to_contain_text("x-request-id")
    assert (await shown_json(article))["meta"] == {"total": 0, "page": 1, "limit": 7}
    assert f"{console.url}/v1/monitors?limit=7" in visit.requests


async def test_a_write_is_confirmed_and_creates_a_monitor(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors, MONITORS)
    article = await opened(visit, "createMonitor")
    send, dialog = article.get_by_role("button", name="Send POST"), visit.page.get_by_role("dialog")

    await send.click()
    await expect(dialog).to_contain_text("POST /v1/monitors changes the data of your team.")
    await dialog.get_by_role("button", name="Cancel").click()
    await send.click()
    await visit.page.keyboard.press("Escape")
    assert (await console.api.get("/v1/monitors")).json["meta"]["total"] == 0
    await send.click()
    assert await visit.violations() == []
    await dialog.get_by_role("button", name="Send").click()
    await expect(article.get_by_role("status")).to_contain_text("201 Created")

    made = await shown_json(article)
    assert (await console.api.get(f"/v1/monitors/{made['id']}")).json["name"] == made["name"]
    assert visit.faults == []


async def test_a_path_is_filled_in_and_an_error_is_shown(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors, OTHERS)
    article = await opened(visit, "getMonitor")

    await article.get_by_role("button", name="Send GET").click()
    assert await article.get_by_label("id").evaluate("field => field.validity.valueMissing")
    await article.get_by_label("id").fill("mon_a/b?c")
    await article.get_by_role("button", name="Send GET").click()

    await expect(article.get_by_role("status")).to_contain_text("404 Not Found")
    assert f"{console.url}/v1/monitors/mon_a%2Fb%3Fc" in visit.requests


async def test_a_stream_shows_what_comes_until_it_is_stopped(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors, "/v1/docs?subject=events")
    article = await opened(visit, "streamEvents")

    await article.get_by_role("button", name="Send GET").click()
    await expect(article.get_by_role("status")).to_contain_text("text/event-stream")
    made = await console.api.post("/v1/incidents", {"title": "It is slow"})
    await expect(article.get_by_role("status")).to_contain_text(made.json["id"])
    await article.get_by_role("button", name="Stop").click()

    await expect(article.get_by_role("status")).to_contain_text("Stopped.")
    await expect(article.get_by_role("button", name="Send GET")).to_be_enabled()


async def test_a_viewer_is_warned_of_what_is_refused(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors, MONITORS, "viewer")
    article = await opened(visit, "createMonitor")
    await expect(article).to_contain_text("Your role is read-only, and this needs read-write")

    await article.get_by_role("button", name="Send POST").click()
    await visit.page.get_by_role("dialog").get_by_role("button", name="Send").click()

    await expect(article.get_by_role("status")).to_contain_text("403 Forbidden")


async def test_headings_link_to_themselves_and_show_it(console: Console, visitors: Visitors) -> None:
    visit = await visitors.visit(f"{console.url}/v1/docs")
    link = visit.page.get_by_role("heading", name="Paging").get_by_role("link")
    mark = "link => getComputedStyle(link, '::after').content"

    assert "#" not in await link.evaluate(mark)
    await visit.page.get_by_role("button", name="Search").focus()
    for _ in range(20):
        await visit.page.keyboard.press("Tab")
        if await link.evaluate("link => link === document.activeElement"):
            break
    assert "#" in await link.evaluate(mark)
    await visit.page.keyboard.press("Enter")

    assert visit.page.url == f"{console.url}/v1/docs#paging"
