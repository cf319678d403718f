"""Passkeys in a real browser with an authenticator of its own: added, used both ways, and removed."""

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest
from playwright.async_api import BrowserContext, CDPSession, Page, expect

from collector.server import make, serve
from tests.browser.session import in_session_loop
from tests.browser.test_console import DESKTOP, PHONE
from tests.browser.visits import Visit, Visitors
from tests.console.client import PASSWORD, Console, visiting
from tests.http.client import Api

HERE = "/settings/account/two-factor"


@in_session_loop
async def console(api: Api) -> AsyncIterator[Console]:
    """A console at a host name, since browsers offer no passkeys at an address; its URL has the port."""
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        url = f"http://localhost:{port}"
        context = replace(api.context, public_url=url)
        runner = await serve(make(context, api.features), f"127.0.0.1:{port}", shared_port=True)
        try:
            async with visiting(url, api) as browser:
                yield browser
        finally:
            await runner.cleanup()


@dataclass(frozen=True, slots=True)
class Device:
    """An authenticator of the browser's own, which its user touches at once."""

    session: CDPSession
    id: str

    @classmethod
    async def of(cls, context: BrowserContext, page: Page) -> "Device":
        session = await context.new_cdp_session(page)
        await session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        made = await session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        return cls(session, made["authenticatorId"])

    async def keys(self) -> list[dict[str, Any]]:
        kept = await self.session.send("WebAuthn.getCredentials", {"authenticatorId": self.id})
        return list(kept["credentials"])

    async def does_not_know_its_user(self) -> None:
        await self.session.send(
            "WebAuthn.setUserVerified", {"authenticatorId": self.id, "isUserVerified": False}
        )


async def entered(visit: Visit, email: str) -> None:
    """Type address and password at the door."""
    await visit.page.fill("#email", email)
    await visit.page.fill("#password", PASSWORD)
    await visit.page.get_by_role("button", name="Sign in", exact=True).click()


@pytest.mark.parametrize(
    ("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop in light", "phone in dark"]
)
async def test_a_passkey_is_added_used_both_ways_and_removed(
    console: Console, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    user = await console.person("editor")
    context = await visitors.context(size=size, scheme=scheme)
    visit = await visitors.visit(f"{console.url}/sign-in?next={HERE}", context)
    page, faults = visit.page, await visit.violations()
    device = await Device.of(context, page)
    await entered(visit, user.email)

    await page.get_by_label("Name").fill("Work laptop")
    faults += await visit.violations()
    await page.get_by_role("button", name="Add a passkey").click()
    await page.get_by_role("heading", name="Your recovery codes").wait_for()
    await page.goto(console.url + HERE)
    await expect(page.locator("table")).to_contain_text("Work laptop")
    await expect(page.locator("table")).to_contain_text("never")
    faults += await visit.violations()
    assert not await visit.overflow_px()
    (key,) = await device.keys()
    assert (key["rpId"], key["isResidentCredential"]) == ("localhost", True)

    # As the second step.
    await context.clear_cookies()
    await page.goto(f"{console.url}/sign-in")
    await entered(visit, user.email)
    await page.get_by_role("heading", name="Use your passkey").wait_for()
    faults += await visit.violations()
    assert not await visit.overflow_px()
    await page.get_by_role("button", name="Continue with a passkey").click()
    await page.wait_for_url(f"{console.url}/")

    # In place of the password.
    await context.clear_cookies()
    await page.goto(f"{console.url}/sign-in?next={HERE}")
    faults += await visit.violations()
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await page.wait_for_url(console.url + HERE)
    await expect(page.locator("table")).not_to_contain_text("never")

    # The same authenticator is not added twice, and says so in place.
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.get_by_role("alert")).to_have_text("This authenticator has a passkey of yours already.")
    faults += await visit.violations()
    await page.get_by_role("button", name="Remove").click()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    await expect(page.get_by_role("status").first).to_contain_text("“Work laptop” removed")

    assert faults == visit.faults == visit.elsewhere == []


async def test_nothing_to_choose_is_said_in_place(console: Console, visitors: Visitors) -> None:
    context = await visitors.context()
    visit = await visitors.visit(f"{console.url}/sign-in", context)
    await (await Device.of(context, visit.page)).does_not_know_its_user()

    await visit.page.get_by_role("button", name="Sign in with a passkey").click()

    await expect(visit.page.get_by_role("alert")).to_contain_text("this device has no passkey for this page")
    assert await visit.violations() == []


async def test_without_scripts_the_code_still_signs_in_and_no_passkey_is_offered(
    console: Console, visitors: Visitors
) -> None:
    user = await console.person("editor")
    visit = await visitors.visit(f"{console.url}/sign-in?next={HERE}", scripts=False)
    assert not await visit.page.get_by_role("button", name="Sign in with a passkey").is_visible()

    await entered(visit, user.email)

    assert await visit.page.get_by_text("Adding one needs scripts").is_visible()
    assert not await visit.page.get_by_role("button", name="Add a passkey").is_visible()
    assert await visit.page.get_by_role("button", name="Set up").is_visible()
