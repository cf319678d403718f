"""Shared by console pages: assets, the event stream, pagination."""

from dataclasses import dataclass
from typing import Final

from aiohttp import hdrs, web

from collector.console.answers import back
from collector.console.api_session import caller
from collector.console.assets import ASSETS, VERSION
from collector.console.site import SITE
from collector.console.state import visitor, who
from collector.events import api
from collector.http.auth import CALLER
from collector.http.context import acting
from collector.platform.context import ServiceContext

_FOREVER: Final = "public, max-age=31536000, immutable"
PER_PAGE: Final = 50
_MOST_PAGES: Final = 100_000


@dataclass(frozen=True, slots=True)
class PagerPosition:
    """A page's position in a list, for `ui.pager`; *before* and *after*: addresses of its neighbours."""

    number: int
    last: int
    before: str
    after: str


def asked(request: web.Request) -> int:
    """Return the requested page's number, from 1; an invalid one means the first."""
    text = request.query.get("page", "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 1
    return min(max(number, 1), _MOST_PAGES)


def at(request: web.Request, number: int, total: int, per_page: int = PER_PAGE) -> PagerPosition:
    """Return the position of page *number* in a list of *total* entries; links keep the query."""
    last = max(1, -(-total // per_page))

    def beside(other: int) -> str:
        return str(request.rel_url.update_query(page=other)) if 1 <= other <= last else ""

    return PagerPosition(number, last, beside(number - 1), beside(number + 1))


async def section(request: web.Request) -> web.StreamResponse:
    """Redirect to the first page of the section that the visitor may see."""
    first = request.app[SITE].beside(visitor(request).permission, request.path)[0]
    return back(request, first.path)


def service_context(request: web.Request) -> ServiceContext:
    """Return the context of an action of the visitor."""
    return acting(request, who(request), visitor(request).plan)


async def asset(request: web.Request) -> web.StreamResponse:
    """Serve a stylesheet or a script; the content at its address never changes."""
    found = ASSETS.get(request.match_info["name"])
    if found is None or request.match_info["version"] != VERSION:
        return web.Response(status=404, text="There is nothing here")
    headers = {hdrs.CACHE_CONTROL: _FOREVER, hdrs.VARY: hdrs.ACCEPT_ENCODING}
    body = found.body
    if "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, ""):
        body, headers[hdrs.CONTENT_ENCODING] = found.packed, "gzip"
    return web.Response(body=body, content_type=found.kind, charset="utf-8", headers=headers)


async def stream(request: web.Request) -> web.StreamResponse:
    """Stream events as GET /v1/events does, for as long as the session lasts."""
    request[CALLER] = caller(visitor(request))
    return await api.stream(request)
