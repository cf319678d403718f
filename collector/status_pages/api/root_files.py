"""Root files of a host: favicon and robots.txt."""

from typing import Final

from aiohttp import hdrs, web

from collector.console import assets
from collector.status_pages.api.public import VISITED, visited_page

_A_DAY: Final = "public, max-age=86400"
# Unlisted pages send `noindex` themselves: naming one here would reveal it.
_OURS: Final = "User-agent: *\nAllow: /status/\nDisallow: /\n"
_ALL: Final = "User-agent: *\nDisallow: /v1/\nAllow: /\n"
_NOTHING: Final = "User-agent: *\nDisallow: /\n"


async def robots(request: web.Request) -> web.Response:
    """Public status pages may be indexed; the console and private pages may not."""
    text = _OURS
    if VISITED in request:
        visited = await visited_page(request)
        text = _ALL if visited is not None and visited.site.view.page.visibility == "public" else _NOTHING
    return web.Response(text=text, headers={hdrs.CACHE_CONTROL: _A_DAY})


async def favicon(request: web.Request) -> web.Response:
    """Redirect to the icon."""
    where = "/icon.svg" if VISITED in request else assets.url("bell.svg")
    return web.Response(status=302, headers={hdrs.LOCATION: where, hdrs.CACHE_CONTROL: _A_DAY})
