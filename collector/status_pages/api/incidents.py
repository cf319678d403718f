"""The incidents of a status page: list, publish, read, update, delete."""

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok
from collector.status_pages.api.parts import incident, page_id, part_id
from collector.status_pages.core.status_page import SEVERITIES
from collector.status_pages.service import incidents, status_pages
from collector.status_pages.service.incidents import WHAT, PageIncidentDetails
from collector.status_pages.storage.incidents import PageIncidentFilter


async def list_(request: web.Request) -> web.Response:
    context = context_of(request)
    page = await status_pages.existing(context.db, caller(request).team_id, page_id(request))
    query = Query(request)
    at, open_ = pages.page(query), query.boolean("open")
    severity = query.one_of("severity", SEVERITIES)
    query.done()
    rows, total = await incidents.page(
        context.db, page.team_id, page.id, PageIncidentFilter(open_, severity), at.limit, at.offset
    )
    return pages.answer(request, at, [incident(details) for details in rows], total)


async def publish(request: web.Request) -> web.Response:
    context = context_of(request)
    page = await status_pages.existing(context.db, caller(request).team_id, page_id(request))
    published = await incidents.publish(
        context.db, actor(request), page.id, await body(request), context.now()
    )
    return ok(incident(published), 201)


async def get(request: web.Request) -> web.Response:
    return ok(incident(await _found(request)))


async def update(request: web.Request) -> web.Response:
    context, row = context_of(request), (await _found(request)).row
    updated = await incidents.update(
        context.db, actor(request), row.page_id, row.id, await body(request), context.now()
    )
    return ok(incident(updated))


async def delete(request: web.Request) -> web.Response:
    context = context_of(request)
    page, id_ = part_id(request, "spi", "incidentId", WHAT)
    await incidents.delete(context.db, actor(request), page, id_, context.now())
    return no_content()


async def _found(request: web.Request) -> PageIncidentDetails:
    """The incident in the path, if it exists: 404 takes precedence over other errors."""
    page, id_ = part_id(request, "spi", "incidentId", WHAT)
    return await incidents.one(context_of(request).db, caller(request).team_id, page, id_)
