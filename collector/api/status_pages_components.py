"""The components of a status page: list, add, read, change, delete, put in order."""

from uuid import UUID

from aiohttp import web

from collector.api import paging
from collector.api.auth import actor, caller
from collector.api.deps import deps
from collector.api.reading import body, no_content, ok, warned
from collector.api.status_pages_parts import component, page_id, part_id
from collector.services import status_pages, status_pages_components
from collector.services.status_pages_components import WHAT, Seen


async def list_(request: web.Request) -> web.Response:
    at_hand = deps(request)
    found = await status_pages_components.all_(
        at_hand.db, caller(request).team_id, page_id(request), at_hand.now()
    )
    return paging.of_all(request, [component(seen) for seen in found])


async def add(request: web.Request) -> web.Response:
    at_hand, page = deps(request), await _page(request)
    made = await status_pages_components.add(
        at_hand.db, actor(request), page, await body(request), at_hand.now()
    )
    return ok(component(made), 201)


async def arrange(request: web.Request) -> web.Response:
    at_hand, page = deps(request), await _page(request)
    found, warnings = await status_pages_components.arrange(
        at_hand.db, actor(request), page, await body(request), at_hand.now()
    )
    return ok(warned({"data": [component(seen) for seen in found]}, warnings))


async def get(request: web.Request) -> web.Response:
    return ok(component(await _found(request)))


async def update(request: web.Request) -> web.Response:
    at_hand, row = deps(request), (await _found(request)).row
    changed = await status_pages_components.update(
        at_hand.db, actor(request), row.page_id, row.id, await body(request), at_hand.now()
    )
    return ok(component(changed))


async def delete(request: web.Request) -> web.Response:
    at_hand = deps(request)
    page, id_ = part_id(request, "comp", "componentId", WHAT)
    await status_pages_components.delete(at_hand.db, actor(request), page, id_, at_hand.now())
    return no_content()


async def _page(request: web.Request) -> UUID:
    """The page of the path, if there is one: 404 comes before whatever else is bad."""
    return (await status_pages.found(deps(request).db, caller(request).team_id, page_id(request))).id


async def _found(request: web.Request) -> Seen:
    at_hand = deps(request)
    page, id_ = part_id(request, "comp", "componentId", WHAT)
    return await status_pages_components.one(at_hand.db, caller(request).team_id, page, id_, at_hand.now())
