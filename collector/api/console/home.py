"""The first page: how all is, and what is still to be done before somebody would be told."""

from aiohttp import web

from collector.api.console.answers import page
from collector.api.console.state import visitor
from collector.api.deps import deps
from collector.services.overview import look


async def show(request: web.Request) -> web.StreamResponse:
    at_hand = deps(request)
    seen = await look(at_hand.db, visitor(request).team_id, at_hand.now())
    return page(request, "home.html.j2", seen=seen)
