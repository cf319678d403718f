"""The console in a real browser: for everybody, with scripts or without, on desktops and phones."""

from collections.abc import AsyncIterator
from typing import Final, Literal

import pytest
from playwright.async_api import BrowserContext, expect

from collector.events import stream
from collector.pages import PAGES
from tests.browser.session import in_session_loop
from tests.browser.visits import Visit, Visitors
from tests.console.client import PASSWORD, Console, served, visiting
from tests.http.client import Api

PUBLIC_URL: Final = "http://tocsin.example.com"
PHONE, DESKTOP = (390, 844), (1280, 860)
# Pages without an id in their path are looked at as they are; these are none to look at.
NO_PAGES: Final = (
    "/events",
    "/monitors/live",
    "/docs/llms",
    "/sign-in/oidc",
    "/state",
    "/manifest.webmanifest",
    "/worker.js",
)
PATHS: Final = [
    page.path
    for page in PAGES
    if page.method == "GET" and "{" not in page.path and not page.path.startswith(NO_PAGES)
]


@in_session_loop
async def console(api: Api) -> AsyncIterator[Console]:
    async with served(api, public_url=PUBLIC_URL) as url, visiting(url, api) as browser:
        yield browser


async def signed_in(
    console: Console, visitors: Visitors, context: BrowserContext | None = None, path: str = "/"
) -> Visit:
    """A new admin's visit to *path*, by way of the door."""
    user = await console.person("admin")
    visit = await visitors.visit(f"{console.url}{path}", context)
    await visit.page.fill("#email", user.email)
    await visit.page.fill("#password", PASSWORD)
    await visit.page.get_by_role("button", name="Sign in", exact=True).click()
    await visit.page.wait_for_url(f"{console.url}{path}")
    return visit


@pytest.mark.parametrize(
    ("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop in light", "phone in dark"]
)
async def test_everybody_can_use_every_page(
    console: Console, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    await console.api.post("/v1/tokens", {"name": "W" * 90, "permission": "read-only"})
    await console.api.post("/v1/probe-tokens", {"location": "frankfurt"})
    context = await visitors.context(size=size, scheme=scheme)
    visit = await visitors.visit(f"{console.url}/sign-in", context)
    faults = {"/sign-in": await visit.violations()}
    visit = await signed_in(console, visitors, context)

    for path in PATHS:
        await visit.page.goto(console.url + path)
        faults[path] = [*(await visit.violations()), *(["too wide"] if await visit.overflow_px() else [])]

    assert {path: found for path, found in faults.items() if found} == {}
    assert visit.faults == []
    assert visit.elsewhere == []


async def test_a_token_is_made_copied_and_used(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors, path="/settings/tokens")
    page = visit.page

    await page.keyboard.press("n")
    await page.get_by_label("Name").fill("robot")
    await page.get_by_label("Permission").select_option("read-write")
    await page.get_by_role("button", name="Create token").click()
    token = await page.get_by_label("The token", exact=True).inner_text()

    assert (await console.api.with_token(token).get("/v1/me")).json["permission"] == "read-write"
    assert await visit.violations() == []
    await page.goto(f"{console.url}/settings/tokens")
    await page.locator("tr", has_text="robot").get_by_role("button", name="Revoke").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Revoke “robot”?")
    assert await visit.violations() == []
    await page.get_by_role("button", name="Cancel").click()
    assert (await console.api.with_token(token).get("/v1/me")).status == 200
    await page.locator("tr", has_text="robot").get_by_role("button", name="Revoke").click()
    await page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    await expect(page.get_by_role("status")).to_contain_text("Token revoked")
    assert (await console.api.with_token(token).get("/v1/me")).status == 401


async def test_faults_are_told_at_their_fields_and_get_the_focus(
    console: Console, visitors: Visitors
) -> None:
    visit = await signed_in(console, visitors, path="/settings/probes/tokens/new")
    page = visit.page

    await page.get_by_label("Locations").fill("Not A Slug")
    await page.get_by_label("Probes that may join").fill("0")
    await page.get_by_role("button", name="Create command").click()

    await expect(page.get_by_role("alert")).to_be_focused()
    await expect(page.get_by_label("Probes that may join")).to_have_attribute("aria-invalid", "true")
    assert "must be between 1 and 1000" in await visit.text()
    assert await visit.violations() == []
    await page.get_by_role("alert").get_by_role("link", name="Locations").click()
    await expect(page.get_by_label("Locations")).to_be_in_viewport()


async def test_keys_lead_everywhere(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors)
    page = visit.page

    await page.keyboard.press("g")
    await page.keyboard.press("s")
    await page.wait_for_url("**/settings/account")
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog")).to_contain_text("Keyboard shortcuts")
    assert await visit.violations() == []
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).not_to_be_visible()
    await page.goto(f"{console.url}/settings/audit-log")
    await page.keyboard.press("/")
    await expect(page.get_by_label("Who")).to_be_focused()
    await page.keyboard.press("g")
    await page.keyboard.press("s")
    await expect(page.get_by_label("Who")).to_have_value("gs")


async def test_the_theme_stays_as_it_was_chosen(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors)
    page = visit.page
    colour = "getComputedStyle(document.body).backgroundColor"
    before = await page.evaluate(colour)

    await page.get_by_role("button", name="Light or dark").click()
    after = await page.evaluate(colour)
    await page.goto(f"{console.url}/settings/account")

    assert before != after
    assert await page.evaluate(colour) == after


async def test_what_happens_is_on_an_open_page_at_once(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors)
    page = visit.page
    await expect(page.locator("[data-live]").first).to_be_visible()
    async with page.expect_response(lambda answer: answer.request.headers.get("x-part") is not None) as info:
        await console.api.post("/v1/incidents", {"title": "It smells of smoke"})
        console.api.features.following.bell.ring()

    assert (await info.value).status == 200
    assert visit.faults == []


@pytest.mark.parametrize("looks_first", [False, True], ids=["at the next event", "at the next look"])
async def test_a_session_that_ended_elsewhere_leads_to_the_door(
    console: Console, visitors: Visitors, monkeypatch: pytest.MonkeyPatch, looks_first: bool
) -> None:
    monkeypatch.setattr(stream, "_TOKENS_EVERY_S", 0.0 if looks_first else 3_600.0)
    visit = await signed_in(console, visitors)
    async with console.api.context.db.transaction() as tx:
        await tx.execute("DELETE FROM console_sessions")

    await console.api.post("/v1/incidents", {"title": "It smells of smoke"})
    console.api.features.following.bell.ring()

    await visit.page.wait_for_url("**/sign-in")


async def test_without_scripts_all_of_it_works(console: Console, visitors: Visitors) -> None:
    context = await visitors.context(scripts=False)
    visit = await signed_in(console, visitors, context, "/settings/users/new")
    page = visit.page

    await page.get_by_label("Email address").fill("new@example.com")
    await page.get_by_label("Name").fill("New")
    await page.get_by_label("Role").select_option("viewer")
    await page.get_by_role("button", name="Invite").click()

    assert "/invitations/" in await page.get_by_label("The link").inner_text()
    await page.get_by_role("button", name="Sign out").click()
    assert "You are signed out." in await visit.text()


async def test_times_are_in_the_viewer_s_zone_with_utc_on_hover(console: Console, visitors: Visitors) -> None:
    context = await visitors.context(zone="Asia/Tokyo")
    visit = await signed_in(console, visitors, context, "/settings/account")
    time = visit.page.locator("time[data-time]").first

    shown = await time.evaluate(
        """time => [time.textContent, new Intl.DateTimeFormat(undefined,
            {dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Tokyo'}
        ).format(new Date(time.dateTime))]"""
    )

    assert shown[0] == shown[1]
    assert (await time.get_attribute("title") or "").endswith(" UTC")


async def test_the_zone_and_clock_of_the_user_s_settings_come_before_the_device_s(
    console: Console, visitors: Visitors
) -> None:
    context = await visitors.context(zone="Asia/Tokyo")
    visit = await signed_in(console, visitors, context, "/settings/account")
    await visit.page.get_by_label("Time zone").fill("America/New_York")
    await visit.page.get_by_label("Clock").select_option("12h")
    await visit.page.locator("form[action='/settings/account/display'] button").click()
    time = visit.page.locator("time[data-time]").first

    shown = await time.evaluate(
        """time => [time.textContent, new Intl.DateTimeFormat(undefined,
            {dateStyle: 'medium', timeStyle: 'short', timeZone: 'America/New_York', hourCycle: 'h12'}
        ).format(new Date(time.dateTime))]"""
    )

    assert shown[0] == shown[1]
    assert visit.faults == []


async def test_a_moment_typed_in_the_user_s_zone_is_that_moment(console: Console, visitors: Visitors) -> None:
    context = await visitors.context(zone="Asia/Tokyo")
    visit = await signed_in(console, visitors, context, "/settings/account")
    await visit.page.get_by_label("Time zone").fill("America/New_York")
    await visit.page.locator("form[action='/settings/account/display'] button").click()
    await visit.page.get_by_text("Saved.").wait_for()
    address = await visit.page.locator("script[src*='console.js']").get_attribute("src") or ""

    # Before and after the clocks go forward and back, and in the hour that is there twice.
    read = await visit.page.evaluate(
        """async path => {
            const {moment, local} = await import(path);
            return ["2026-03-08T01:30", "2026-03-08T03:30", "2026-11-01T00:30", "2026-11-01T01:30",
                    "2026-11-01T02:30"].map((text) => [moment(text).toISOString(), local(moment(text))]);
        }""",
        address.replace("console.js", "times.js"),
    )

    moments, texts = zip(*read, strict=True)
    assert list(moments) == [
        "2026-03-08T06:30:00.000Z",
        "2026-03-08T07:30:00.000Z",
        "2026-11-01T04:30:00.000Z",
        "2026-11-01T05:30:00.000Z",
        "2026-11-01T07:30:00.000Z",
    ]
    assert list(texts) == [
        "2026-03-08T01:30",
        "2026-03-08T03:30",
        "2026-11-01T00:30",
        "2026-11-01T01:30",
        "2026-11-01T02:30",
    ]
