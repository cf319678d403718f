"""A visit to a page: what was asked for, what went wrong in it, and whether everybody can use it."""

import re
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Dialog, Page

AXE_RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_AXE: Final = """async (rules) => (await axe.run(document, {
    runOnly: {type: 'tag', values: rules}, resultTypes: ['violations']
})).violations.map(one => `${one.id}: ${one.nodes.map(node => node.html).join(' | ')}`)"""
_REFUSED: Final = re.compile(r"Content Security Policy|Refused to")


@dataclass(frozen=True, slots=True)
class Visit:
    """A page that is open. *requests* are all URLs asked for; *faults* what the page itself complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def elsewhere(self) -> list[str]:
        """What was asked of any other host than the page's own."""
        own = urlsplit(self.page.url).netloc
        return [url for url in self.requests if urlsplit(url).netloc != own]

    @property
    def refused(self) -> list[str]:
        """What the page's own policy kept it from."""
        return [fault for fault in self.faults if _REFUSED.search(fault)]

    async def text(self) -> str:
        return await self.page.inner_text("body")

    async def violations(self) -> list[str]:
        """What axe finds, by rule and element."""
        await self.page.evaluate(_axe())
        found: list[str] = await self.page.evaluate(_AXE, AXE_RULES)
        return found

    async def overflow_px(self) -> int:
        """How much wider than its window the page is."""
        wider: int = await self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return wider


@dataclass(frozen=True, slots=True)
class Visitors:
    """Opens pages, each as somebody who was never there before."""

    browser: Browser
    closing: AsyncExitStack

    async def context(
        self,
        *,
        size: tuple[int, int] = (1280, 900),
        scheme: Literal["light", "dark"] = "light",
        scripts: bool = True,
        locale: str = "en-GB",
        zone: str = "UTC",
        **more: Any,
    ) -> BrowserContext:
        context = await self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            java_script_enabled=scripts,
            locale=locale,
            timezone_id=zone,
            **more,
        )
        self.closing.push_async_callback(context.close)
        return context

    async def visit(self, url: str, context: BrowserContext | None = None, **options: Any) -> Visit:
        """*url*, loaded; *options* are those of `context`."""
        page = await (context or await self.context(**options)).new_page()
        visit = Visit(page)

        async def dismiss(dialog: Dialog) -> None:
            visit.dialogs.append(dialog.message)
            await dialog.dismiss()

        page.on("request", lambda request: visit.requests.append(request.url))
        page.on("dialog", dismiss)
        page.on("pageerror", lambda error: visit.faults.append(str(error)))
        page.on("console", lambda message: visit.faults.extend([message.text] * (message.type == "error")))
        await page.goto(url)
        return visit


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
