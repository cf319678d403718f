"""Writes the pictures of the README into docs/images: ``make screenshots``.

They show the team of `make world`, which has three months of history; filling it takes minutes.
"""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from tests.e2e.product import Product

_FOLDER: Final = Path(__file__).parent.parent / "docs" / "images"
_SIZE: Final = ViewportSize(width=1200, height=720)
_FILLED_WITHIN_S: Final = 900.0
# Together with the README they are looked at over slow lines, too.
_MOST_BYTES: Final = 200_000


async def main() -> None:
    """Start a product with the world, take the pictures, stop it. Raises ValueError if they are too large."""
    with tempfile.TemporaryDirectory() as directory:
        product = Product(Path(directory) / "var", {"DEMO": "world"})
        product.start("--demo")
        try:
            await product.ready(_FILLED_WITHIN_S)
            await _pictures(product)
        finally:
            product.stop()
    size = sum(picture.stat().st_size for picture in _FOLDER.glob("*.png"))
    if size > _MOST_BYTES:
        raise ValueError(f"the pictures have {size:,} bytes, and {_MOST_BYTES:,} are the most")


async def _pictures(product: Product) -> None:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        await _console(browser, (product.data_dir / "setup-link").read_text().strip())
        await _status_page(browser, f"{product.url}/status/shop")
        await browser.close()


async def _console(browser: Browser, link: str) -> None:
    page = await _page(browser)
    await page.goto(link)
    await page.get_by_label("Your name").fill("Admin")
    await page.get_by_label("Email address").fill("admin@example.com")
    for label in ("Password", "Confirm password"):
        await page.get_by_label(label, exact=True).fill("a long enough password")
    await page.get_by_role("button", name="Create account").click()
    await page.wait_for_url("**/")
    await _take(page, "console")


async def _status_page(browser: Browser, url: str) -> None:
    page = await _page(browser)
    await page.goto(url)
    await _take(page, "status-page")


async def _page(browser: Browser) -> Page:
    context = await browser.new_context(
        viewport=_SIZE, color_scheme="light", locale="en-GB", timezone_id="UTC"
    )
    return await context.new_page()


async def _take(page: Page, name: str) -> None:
    await page.wait_for_load_state()
    _FOLDER.mkdir(exist_ok=True)
    await page.screenshot(path=_FOLDER / f"{name}.png")


if __name__ == "__main__":
    asyncio.run(main())
