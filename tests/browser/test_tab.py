"""The tab of any page shows how many incidents are open; the desktop is notified by choice; toasts undo."""

import re

from playwright.async_api import expect

from tests.browser.test_console import console, signed_in
from tests.browser.visits import Visitors
from tests.console.client import Console

__all__ = ["console"]

_NOTE_DOWN = """
globalThis.noted = [];
globalThis.Notification = class {
  static permission = "default";
  static async requestPermission() { Notification.permission = "granted"; return "granted"; }
  constructor(title, { body }) { noted.push(`${title}: ${body}`); }
};
"""


async def create(console: Console, title: str) -> str:
    made = await console.api.post("/v1/incidents", {"title": title, "severity": "high"})
    console.api.features.following.bell.ring()
    return str(made.json["id"])


async def test_title_and_icon_follow_in_every_tab(console: Console, visitors: Visitors) -> None:
    visit = await signed_in(console, visitors, path="/settings/account")
    other = await visitors.visit(f"{console.url}/alerting/rules", visit.page.context)
    icon = other.page.locator("link[rel=icon]")
    await expect(icon).to_have_attribute("href", re.compile(r"/bell\.svg"))

    id_ = await create(console, "It is slow")

    for page in (visit.page, other.page):
        await expect(page).to_have_title(re.compile(r"^\(1\) "))
    await expect(icon).to_have_attribute("href", re.compile("bell-bad"))
    await console.api.post(f"/v1/incidents/{id_}/acknowledge")
    console.api.features.following.bell.ring()
    await expect(icon).to_have_attribute("href", re.compile("bell-warn"))
    await visit.page.close()
    await console.api.post(f"/v1/incidents/{id_}/resolve")
    console.api.features.following.bell.ring()
    await expect(other.page).to_have_title("Alert rules · Tocsin")
    assert other.faults == []


async def test_the_desktop_is_notified_of_what_is_new_once_somebody_turned_it_on(
    console: Console, visitors: Visitors
) -> None:
    await create(console, "Known before")
    context = await visitors.context()
    await context.add_init_script(_NOTE_DOWN)
    visit = await signed_in(console, visitors, context, "/settings/account")
    page = visit.page
    await expect(page).to_have_title(re.compile(r"^\(1\) "))
    await create(console, "Before the click")
    await expect(page).to_have_title(re.compile(r"^\(2\) "))
    assert await page.evaluate("noted") == []

    await page.get_by_role("button", name="Turn on in this browser").click()
    await expect(page.get_by_text("On in this browser.")).to_be_visible()
    assert await visit.violations() == []
    await create(console, "It is slow")

    await expect(page).to_have_title(re.compile(r"^\(3\) "))
    assert await page.evaluate("noted") == ["It is slow: high incident"]
    await page.get_by_role("button", name="Turn off in this browser").click()
    await create(console, "Quiet")
    await expect(page).to_have_title(re.compile(r"^\(4\) "))
    assert len(await page.evaluate("noted")) == 1


async def test_a_toast_takes_back_what_was_done(console: Console, visitors: Visitors) -> None:
    id_ = await create(console, "It is slow")
    visit = await signed_in(console, visitors, path=f"/incidents/{id_}")
    page = visit.page

    await page.get_by_role("button", name="Resolve").click()
    toast = page.locator(".toast")
    await expect(toast).to_contain_text("Incident resolved.")
    assert await visit.violations() == []
    await toast.get_by_role("button", name="Undo").click()

    await expect(page.get_by_text("Incident reopened.")).to_be_visible()
    assert (await console.api.get(f"/v1/incidents/{id_}")).json["status"] == "open"
