"""The console's monitors and incidents in a real browser: for everybody, live, and nothing of it runs."""

import re
from datetime import datetime, timedelta
from typing import Literal

import pytest
from playwright.async_api import expect

from shared.clock import utc_now
from tests.browser.status_world import ARABIC, LONG, measured
from tests.browser.visits import Visit, Visitors
from tests.console.client import PASSWORD, Console, served, visiting
from tests.http.client import Api
from tests.http.rows import insert
from tests.monitors.monitors import location, number, result

HOSTILE = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script>{{7*7}}"
PHONE = (390, 844)


async def signed_in(url: str, console: Console, visitors: Visitors, **options: object) -> Visit:
    """An admin, at the console's first page."""
    user = await console.person("admin")
    visit = await visitors.visit(url + "/sign-in", await visitors.context(**options))  # type: ignore[arg-type]
    await visit.page.fill("#email", user.email)
    await visit.page.fill("#password", PASSWORD)
    await visit.page.click("button:has-text('Sign in')")
    await expect(visit.page.locator("h1")).to_have_text("Overview")
    return visit


async def made(api: Api, name: str, **more: object) -> str:
    config = {"url": "https://shop.example.com/"}
    answer = await api.post("/v1/monitors", {"name": name, "type": "http", "config": config, **more})
    return str(answer.json["id"])


async def raised(api: Api, title: str) -> str:
    return str((await api.post("/v1/incidents", {"title": title, "severity": "high"})).json["id"])


@pytest.mark.parametrize(
    ("size", "scheme"),
    [pytest.param((1280, 900), "light", id="desktop"), pytest.param(PHONE, "dark", id="phone")],
)
async def test_everybody_can_use_it_on_any_screen(
    api: Api, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    shop = await measured(api, bad={3: 0.02})
    await made(api, LONG[:250], tags={"team": ARABIC})
    incident = await raised(api, LONG[:250])
    await api.post(f"/v1/incidents/{incident}/notes", {"text": ARABIC})
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, size=size, scheme=scheme)
        for path in (
            "/", "/monitors", f"/monitors/{shop}", "/monitors/new", f"/monitors/{shop}/edit",
            "/incidents", f"/incidents/{incident}", "/incidents/new", "/incidents/stats",
        ):  # fmt: skip
            await visit.page.goto(url + path)
            assert await visit.violations() == [], path
            assert await visit.overflow_px() == 0, path
        assert visit.faults == []
        assert visit.elsewhere == []


async def test_what_happens_is_on_the_open_page_without_a_reload(api: Api, visitors: Visitors) -> None:
    shop = await made(api, "shop")
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        async with visit.page.expect_response(lambda answer: "/events" in answer.url):
            await visit.page.goto(url + "/monitors")
        row = visit.page.locator("tr", has_text="shop")
        await expect(row).to_contain_text("no result yet")

        await api.post(f"/v1/monitors/{shop}/pause")

        await expect(row).to_contain_text("paused")
        await made(api, "another")
        await expect(visit.page.locator("tr", has_text="another")).to_be_visible()


async def test_the_first_monitor_is_made_by_hand_and_deleted_when_asked_twice(
    api: Api, visitors: Visitors
) -> None:
    async with served(api) as url, visiting(url, api) as console:
        page = (await signed_in(url, console, visitors)).page
        await page.goto(url + "/monitors")
        await page.keyboard.press("n")
        await expect(page.locator("h1")).to_have_text("New monitor")
        await page.get_by_label("Name optional", exact=True).fill("Shop")
        await page.get_by_label("URL", exact=True).fill("https://shop.example.com/")
        await page.get_by_role("button", name="Create monitor").click()
        await expect(page.locator("h1")).to_have_text("Shop")

        await page.get_by_role("button", name="Delete").click()
        await page.locator("#confirm").get_by_role("button", name="Delete").click()

        await expect(page.get_by_text("No monitors yet")).to_be_visible()
        assert (await api.get("/v1/monitors")).json["data"] == []


async def test_nothing_that_somebody_wrote_runs(api: Api, visitors: Visitors) -> None:
    shop = await made(api, HOSTILE, tags={HOSTILE[:60]: HOSTILE[:200]}, description=HOSTILE, group=HOSTILE)
    incident = await raised(api, HOSTILE)
    await api.post(f"/v1/incidents/{incident}/notes", {"text": HOSTILE})
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        for path in ("/monitors", f"/monitors/{shop}", f"/monitors/{shop}/edit", f"/incidents/{incident}"):
            await visit.page.goto(url + path)
            await visit.page.wait_for_load_state("load")
        assert (visit.dialogs, visit.elsewhere, visit.faults) == ([], [], [])


async def test_a_check_is_drawn_in_an_open_list_within_two_seconds(api: Api, visitors: Visitors) -> None:
    shop = await made(api, "shop")
    monitor, now = await number(api, shop), utc_now()
    await checked(api, monitor, now - timedelta(minutes=1), 20)
    async with served(api) as url, visiting(url, api) as console:
        page = (await signed_in(url, console, visitors)).page
        async with page.expect_response(lambda answer: "/monitors/live" in answer.url):
            await page.goto(url + "/monitors")
        row = page.locator("tr", has_text="shop")
        await expect(row.locator("rect")).to_have_count(1)
        await expect(row).to_contain_text(re.compile(r"1 min\.? ago"))

        await checked(api, monitor, now, 345)

        await expect(row.locator("rect")).to_have_count(2, timeout=2_000)
        await expect(row).to_contain_text("345 ms")
        await expect(row).not_to_contain_text(re.compile(r"min\.? ago"))


async def test_the_first_check_ends_no_result_yet_and_moves_the_counters(
    api: Api, visitors: Visitors
) -> None:
    shop = await made(api, "shop")
    async with served(api) as url, visiting(url, api) as console:
        page = (await signed_in(url, console, visitors)).page
        async with page.expect_response(lambda answer: "/monitors/live" in answer.url):
            await page.goto(url + "/monitors")
        states = page.get_by_role("navigation", name="States")
        await expect(states).to_contain_text("no result yet 1")

        await checked(api, await number(api, shop), utc_now(), 20)

        await expect(states).to_contain_text("up 1")
        await expect(page.locator("tr", has_text="shop")).not_to_contain_text("no result yet")


async def test_what_is_selected_is_counted_and_outlasts_news(api: Api, visitors: Visitors) -> None:
    for name in ("a", "b", "c"):
        await made(api, name)
    async with served(api) as url, visiting(url, api) as console:
        page = (await signed_in(url, console, visitors)).page
        async with page.expect_response(lambda answer: "/events" in answer.url):
            await page.goto(url + "/monitors")
        bar = page.locator(".bulk")
        await expect(bar).to_be_hidden()
        await page.keyboard.press("j")
        await page.keyboard.press("x")
        await page.get_by_label("Select b").check()
        await expect(bar).to_contain_text("2 selected")

        await made(api, "d")

        await expect(page.locator("tr", has_text="d").get_by_label("Select d")).to_be_visible()
        await expect(bar).to_contain_text("2 selected")
        await page.get_by_label("all 4 that match").check()
        await expect(bar).to_contain_text("4 selected")
        await bar.get_by_role("button", name="Delete").click()
        await expect(page.locator("#confirm-text")).to_have_text(
            "Delete 4 monitors and their history? This cannot be undone."
        )


async def test_a_bulk_action_and_an_acknowledgement_are_undone_by_their_messages(
    api: Api, visitors: Visitors
) -> None:
    await made(api, "Shop")
    incident = await raised(api, "It is slow")
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, size=PHONE)
        page = visit.page
        await page.goto(f"{url}/monitors")
        await page.locator("input[name=id]").check()
        await page.get_by_role("button", name="Pause").click()
        await expect(page.locator("[data-toast]")).to_contain_text("1 of 1 changed.")
        faults = await visit.violations()
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_role("status").first).to_contain_text("Undone: 1 of 1 changed.")
        assert (await api.get("/v1/monitors?status=paused")).json["data"] == []

        await page.goto(f"{url}/incidents/{incident}")
        await page.get_by_role("button", name="Acknowledge").click()
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_role("button", name="Acknowledge")).to_be_visible()
        faults += await visit.violations()

        assert faults == visit.faults == []


async def test_a_folded_group_stays_folded(api: Api, visitors: Visitors) -> None:
    await made(api, "till", group="Shop")
    async with served(api) as url, visiting(url, api) as console:
        page = (await signed_in(url, console, visitors)).page
        await page.goto(url + "/monitors?sort=group")
        await expect(page.get_by_role("link", name="till")).to_be_visible()
        await page.locator("summary", has_text="Shop").click()
        await expect(page.get_by_role("link", name="till")).to_be_hidden()

        await page.reload()

        await expect(page.locator("summary", has_text="Shop")).to_be_visible()
        await expect(page.get_by_role("link", name="till")).to_be_hidden()


async def checked(api: Api, monitor: int, at: datetime, ms: int) -> None:
    """Let a check of a monitor come in."""
    where = await location(api, "local")
    await result(api, monitor, at, ms=ms)
    async with api.context.db.transaction() as tx:
        await tx.execute("DELETE FROM states WHERE monitor = $1", monitor)
    row = {"monitor": monitor, "location": where, "turn": 0, "revision": 1, "last_status": 1}
    await insert(api.context.db, "states", {**row, "last_at": at, "last_ms": ms})
