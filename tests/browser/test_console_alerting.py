"""The console's alerting in a real browser: from nothing to an alert that arrives, and a planned window."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Final, Literal

import pytest
from playwright.async_api import expect

from tests.browser.session import in_session_loop
from tests.browser.visits import Visit, Visitors
from tests.console.client import PASSWORD, Console, served, visiting
from tests.http.client import Api
from tests.receiver import answer, receiving

PUBLIC_URL: Final = "http://tocsin.example.com"
PHONE, DESKTOP = (390, 844), (1280, 860)


@in_session_loop
async def console(api: Api) -> AsyncIterator[Console]:
    async with served(api, public_url=PUBLIC_URL) as url, visiting(url, api) as browser:
        yield browser


async def sign_in(visit: Visit, console: Console) -> None:
    user = await console.person("admin")
    await visit.page.fill("#email", user.email)
    await visit.page.fill("#password", PASSWORD)
    await visit.page.get_by_role("button", name="Sign in", exact=True).click()
    await visit.page.wait_for_url(lambda url: "/sign-in" not in url)


async def fine(visit: Visit) -> None:
    """Everybody can use the page as it is now."""
    assert await visit.violations() == []
    assert await visit.overflow_px() <= 0


async def test_from_nothing_to_an_alert_that_arrives(console: Console, visitors: Visitors) -> None:
    visit = await visitors.visit(f"{console.url}/alerting/rules", size=DESKTOP)
    await sign_in(visit, console)
    page = visit.page
    await expect(page.get_by_text("No one will be notified")).to_be_visible()

    async with receiving(answer(202)) as receiver:
        await page.get_by_role("link", name="Create a channel").click()
        await page.get_by_role("link", name="Webhook").click()
        await page.get_by_label("Name").fill("Ops")
        await page.get_by_label("URL").fill(receiver.url())
        await fine(visit)
        await page.get_by_role("button", name="Create channel").click()
        await page.get_by_role("button", name="Send a test").click()
        await expect(page.get_by_role("status")).to_contain_text("the receiver answered 202")
        [received] = await receiver.wait_for(1)
    assert received.headers["x-service-event"] == "test"
    await fine(visit)

    await page.get_by_role("link", name="Rules", exact=True).first.click()
    await page.get_by_role("link", name="New rule").first.click()
    await page.get_by_label("Ops (webhook)").first.check()
    await page.get_by_label("Slower than").fill("800")
    await page.get_by_role("button", name="Preview on the last 7 days").click()
    await expect(page.get_by_role("status")).to_contain_text("It would have fired 0 times")
    await expect(page.get_by_label("Ops (webhook)").first).to_be_checked()
    await fine(visit)
    await page.get_by_label("Name").fill("Slow")
    await page.get_by_role("button", name="Create rule").click()

    await expect(page.get_by_role("row", name="Slow")).to_contain_text("is slower than 800 ms")
    assert "would tell" not in await visit.text()
    await fine(visit)
    assert visit.elsewhere == []
    assert visit.faults == []


@pytest.mark.parametrize(
    ("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop in light", "phone in dark"]
)
async def test_a_window_is_planned_and_stands_on_the_calendar(
    console: Console, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    visit = await visitors.visit(f"{console.url}/alerting/maintenance", size=size, scheme=scheme)
    await sign_in(visit, console)
    page = visit.page
    begin = console.api.clock() + timedelta(days=2)

    await page.keyboard.press("n")
    await page.get_by_label("Name").fill("New disks")
    await page.get_by_label("Start").fill(f"{begin:%Y-%m-%dT%H:%M}")
    await page.get_by_label("End", exact=True).fill(f"{begin + timedelta(hours=1):%Y-%m-%dT%H:%M}")
    await page.get_by_label("Repeats").fill("FREQ=DAILY")
    await page.get_by_role("button", name="Schedule").click()
    await expect(page.get_by_role("alert")).to_be_focused()
    await expect(page.get_by_label("Start")).to_have_value(f"{begin:%Y-%m-%dT%H:%M}")
    await fine(visit)
    await page.get_by_label("All monitors").check()
    await page.get_by_role("button", name="Schedule").click()

    await expect(page.locator(".calendar .entry").first).to_contain_text("New disks")
    await fine(visit)
    await page.get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("dialog")).to_contain_text("Delete “New disks”?")
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(page.get_by_role("status")).to_contain_text("Maintenance deleted")
