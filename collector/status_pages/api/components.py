"""The components of a status page: list, create, read, update, delete, reorder."""

from uuid import UUID

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import body, no_content, ok
from collector.status_pages.answers import OrderedComponents
from collector.status_pages.api.parts import component, page_id, part_id
from collector.status_pages.service import components, status_pages
from collector.status_pages.service.components import WHAT, ComponentDetails


async def list_(request: web.Request) -> web.Response:
    context = context_of(request)
    rows = await components.all_(context.db, caller(request).team_id, page_id(request), context.now())
    return pages.of_all(request, [component(seen) for seen in rows])


async def add(request: web.Request) -> web.Response:
    context, page = context_of(request), await _page(request)
    made = await components.add(context.db, actor(request), page, await body(request), context.now())
    return ok(component(made), 201)


async def arrange(request: web.Request) -> web.Response:
    context, page = context_of(request), await _page(request)
    rows, warnings = await components.arrange(
        context.db, actor(request), page, await body(request), context.now()
    )
    return ok(OrderedComponents(data=[component(seen) for seen in rows], warnings=warnings or None))


async def get(request: web.Request) -> web.Response:
    return ok(component(await _found(request)))


async def update(request: web.Request) -> web.Response:
    context, row = context_of(request), (await _found(request)).row
    changed = await components.update(
        context.db, actor(request), row.page_id, row.id, await body(request), context.now()
    )
    return ok(component(changed))


async def delete(request: web.Request) -> web.Response:
    context = context_of(request)
    page, id_ = part_id(request, "comp", "componentId", WHAT)
    await components.delete(context.db, actor(request), page, id_, context.now())
    return no_content()


async def _page(request: web.Request) -> UUID:
    """The id of the page in the path, if it exists: 404 takes precedence over other errors."""
    return (await status_pages.existing(context_of(request).db, caller(request).team_id, page_id(request))).id


async def _found(request: web.Request) -> ComponentDetails:
    context = context_of(request)
    page, id_ = part_id(request, "comp", "componentId", WHAT)
    return await components.one(context.db, caller(request).team_id, page, id_, context.now())
