"""From the set-up link of a new product to its first alert, as a newcomer's hands do it."""

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser.visits import Visitors
from tests.e2e.product import running
from tests.ports import free_port
from tests.receiver import receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


class Hands:
    """Clicks and types, and counts both."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.fields = 0

    async def follow(self, name: str) -> None:
        self.clicks += 1
        await self.page.get_by_role("link", name=name).first.click()

    async def press(self, name: str) -> None:
        self.clicks += 1
        await self.page.get_by_role("button", name=name, exact=True).click()

    async def tick(self, label: str) -> None:
        self.clicks += 1
        await self.page.get_by_role("checkbox", name=label).check()

    async def fill(self, label: str, text: str) -> None:
        self.fields += 1
        await self.page.get_by_label(label, exact=True).fill(text)


async def test_the_first_alert_takes_eight_clicks_and_six_fields(tmp_path: Path, visitors: Visitors) -> None:
    async with receiving() as chat, running(tmp_path) as (product, _):
        link = (product.data_dir / "setup-link").read_text().strip()
        hands = Hands((await visitors.visit(link)).page)
        await hands.fill("Your name", "Admin")
        await hands.fill("Email address", "admin@example.com")
        await hands.fill("Password", "a long enough password")
        await hands.fill("Confirm password", "a long enough password")
        await hands.press("Create account")

        await hands.follow("Add a notification channel")
        await hands.follow("Slack")
        await hands.fill("Webhook URL", chat.url())
        await hands.press("Create channel")

        await hands.follow("Monitors")
        await hands.follow("New monitor")
        await hands.fill("URL", f"http://127.0.0.1:{free_port()}/")
        await hands.tick("Slack")
        await hands.press("Create monitor")

        [message] = await chat.wait_for(1, timeout_s=60)
        assert b"Down: 127.0.0.1" in message.body
        assert (hands.clicks, hands.fields) == (8, 6)
