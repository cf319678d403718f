"""The first page: overall state, and what is missing before anybody would be notified."""

from aiohttp import web

from collector.console.answers import page
from collector.console.state import visitor
from collector.http.deps import deps
from collector.monitors.service.overview import look


async def show(request: web.Request) -> web.StreamResponse:
    at_hand = deps(request)
    seen = await look(at_hand.db, visitor(request).team_id, at_hand.now())
    return page(request, "home.html.j2", seen=seen)
