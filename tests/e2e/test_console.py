"""The installed product's console: from the line that `tocsin up` prints to a token that works."""

import asyncio
import re
from pathlib import Path

import aiohttp
import pytest

from tests.e2e.product import running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PASSWORD = "a long enough password"
CSRF = re.compile(r'name="csrf" content="([^"]+)"')


async def test_the_link_in_its_file_leads_to_a_console_and_its_token_to_the_api(tmp_path: Path) -> None:
    async with running(tmp_path) as (product, _):
        path = product.data_dir / "setup-link"
        async with asyncio.timeout(20):
            while "Set up the console, once: by the link in" not in product.log.read_text():
                await asyncio.sleep(0.05)
        link = path.read_text().strip()
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar, headers={"Origin": product.url}) as browser:
            fields = {"name": "A", "email": "a@example.com", "password": PASSWORD, "again": PASSWORD}
            async with browser.post(link, data=fields) as answer:
                assert (answer.status, answer.url.path) == (200, "/")
                csrf = CSRF.search(await answer.text())
            assert csrf is not None
            wish = {"csrf": csrf[1], "name": "robot", "permission": "read-only", "expiresIn": "30d"}
            async with browser.post(f"{product.url}/settings/tokens", data=wish) as answer:
                token = re.search(r"tocsin_[0-9A-Za-z]{40}", await answer.text())
            assert token is not None
            async with browser.get(
                f"{product.url}/v1/me", headers={"Authorization": f"Bearer {token[0]}"}
            ) as answer:
                assert (await answer.json())["email"] == "a@example.com"
        assert link.rpartition("/")[2] not in product.log.read_text()
        async with asyncio.timeout(20):
            while path.exists():
                await asyncio.sleep(0.05)
