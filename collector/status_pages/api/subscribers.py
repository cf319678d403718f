"""The subscribers of a status page: list, create, read, update, delete."""

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok
from collector.platform.access import Permission
from collector.status_pages.answers import SubscriberAnswer
from collector.status_pages.api.parts import page_id, part_id, subscriber
from collector.status_pages.service import status_pages, subscribers
from collector.status_pages.service.subscribers import WHAT, SubscriberDetails


async def list_(request: web.Request) -> web.Response:
    context = context_of(request)
    page = await status_pages.existing(context.db, caller(request).team_id, page_id(request))
    query = Query(request)
    at = pages.asked(query)
    query.done()
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    rows, total = await subscribers.page(context.db, context.keyring, page.team_id, page.id, limit, offset)
    items = [_shown(request, known) for known in rows]
    return pages.answer(request, at, items, total) if at else ok({"data": items, "meta": {"total": total}})


async def add(request: web.Request) -> web.Response:
    context = context_of(request)
    page = await status_pages.existing(context.db, caller(request).team_id, page_id(request))
    known = await subscribers.add(
        context.db,
        context.keyring,
        actor(request),
        page.id,
        await body(request),
        context.now(),
        mails=context.transport.mailer is not None,
    )
    return ok(_shown(request, known), 201)


async def get(request: web.Request) -> web.Response:
    return ok(_shown(request, await _found(request)))


async def update(request: web.Request) -> web.Response:
    context, row = context_of(request), (await _found(request)).row
    known = await subscribers.update(
        context.db, context.keyring, actor(request), row.page_id, row.id, await body(request)
    )
    return ok(_shown(request, known))


async def delete(request: web.Request) -> web.Response:
    page, id_ = part_id(request, "sub", "subscriberId", WHAT)
    await subscribers.delete(context_of(request).db, actor(request), page, id_)
    return no_content()


async def _found(request: web.Request) -> SubscriberDetails:
    """The subscriber in the path, if it exists: 404 takes precedence over other errors."""
    context, (page, id_) = context_of(request), part_id(request, "sub", "subscriberId", WHAT)
    return await subscribers.one(context.db, context.keyring, caller(request).team_id, page, id_)


def _shown(request: web.Request, details: SubscriberDetails) -> SubscriberAnswer:
    return subscriber(details, whole=caller(request).permission is not Permission.READ_ONLY)
