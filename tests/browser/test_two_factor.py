"""Two-factor authentication in a real browser, from the account page to the next sign-in."""

import base64
import re
from datetime import timedelta

import pytest

from collector.accounts.core import totp
from tests.browser.test_console import DESKTOP, PHONE, console, signed_in
from tests.browser.visits import Visitors
from tests.console.client import PASSWORD, Console

__all__ = ["console"]


def code(console: Console, secret: bytes) -> str:
    return totp.code(secret, int(console.api.clock().timestamp()) // totp.STEP_S)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_it_is_set_up_and_asked_for(
    console: Console, visitors: Visitors, size: tuple[int, int]
) -> None:
    context = await visitors.context(size=size, scheme="light")
    visit = await signed_in(console, visitors, context, "/settings/account")
    page = visit.page
    email = await page.locator("dl.facts dd").nth(1).inner_text()
    faults = []

    await page.locator("a[href='/settings/account/two-factor']").click()
    await page.get_by_role("button", name="Set up").click()
    uri = await page.get_by_role("link", name="Open an app on this device").get_attribute("href")
    match = re.search(r"secret=([A-Z2-7]+)", uri or "")
    assert match is not None
    secret = base64.b32decode(match[1])
    assert await page.get_by_role("img", name="QR code for your authenticator app").is_visible()
    faults += await visit.violations()
    assert not await visit.overflow_px()
    await page.get_by_role("textbox", name="Code").fill(code(console, secret))
    await page.get_by_role("button", name="Turn on").click()
    await page.get_by_role("heading", name="Your recovery codes").wait_for()
    faults += await visit.violations()
    await page.get_by_role("link", name="Done").click()

    other = await visitors.visit(f"{console.url}/sign-in", await visitors.context(size=size, scheme="dark"))
    await other.page.fill("#email", email)
    await other.page.fill("#password", PASSWORD)
    await other.page.get_by_role("button", name="Sign in", exact=True).click()
    await other.page.get_by_role("heading", name="Enter your code").wait_for()
    faults += await other.violations()
    console.api.clock.ahead += timedelta(seconds=totp.STEP_S)
    await other.page.keyboard.type(code(console, secret))
    await other.page.keyboard.press("Enter")
    await other.page.wait_for_url(f"{console.url}/")

    assert faults == []
    assert visit.faults == other.faults == []
