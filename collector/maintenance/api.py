"""Maintenance windows: list, create, read, update, end, delete."""

from typing import Any
from uuid import UUID

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id, warned
from collector.maintenance.core.windows import WindowSpan, status
from collector.maintenance.service import windows
from collector.maintenance.service.windows import WindowDetails
from collector.maintenance.storage.windows import STATUSES
from shared import ids
from shared.clock import iso


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at, wanted = pages.page(query), query.one_of("status", STATUSES)
    query.done()
    context = context_of(request)
    found, total = await windows.page(
        context.db, caller(request).team_id, wanted, context.now(), at.limit, at.offset
    )
    return pages.answer(request, at, [_shown(request, known) for known in found], total)


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await windows.create(context.db, actor(request), await body(request), context.now())
    return ok(_shown(request, made), 201, conditional.tagged(made.row.revision))


async def get(request: web.Request) -> web.Response:
    known = await _found(request)
    if (same := conditional.unchanged(request, known.row.revision)) is not None:
        return same
    return ok(_shown(request, known), headers=conditional.shown(known.row.revision))


async def update(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = (await _found(request)).row.id
    only, sent = conditional.only(request), await body(request)
    known = await windows.update(context.db, actor(request), id_, sent, context.now(), only=only)
    return ok(_shown(request, known), headers=conditional.tagged(known.row.revision))


async def end(request: web.Request) -> web.Response:
    context = context_of(request)
    known = await windows.end(context.db, actor(request), _id(request), context.now())
    return ok(_shown(request, known), headers=conditional.tagged(known.row.revision))


async def delete(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = (await _found(request)).row.id
    only = conditional.only(request)
    await windows.delete(context.db, actor(request), id_, context.now(), only=only)
    return no_content()


def _id(request: web.Request) -> UUID:
    return path_id(request, "mw", windows.WHAT)


async def _found(request: web.Request) -> WindowDetails:
    """The window in the path, if it exists: 404 takes precedence over other errors."""
    context = context_of(request)
    return await windows.one(context.db, caller(request).team_id, _id(request), context.now())


def _shown(request: web.Request, known: WindowDetails) -> dict[str, Any]:
    row, now = known.row, context_of(request).now()
    running = [span.ends_at for span in known.spans if span.starts_at <= now]
    following = next((span for span in known.spans if span.starts_at > now), None)
    answer = {
        "id": ids.show("mw", row.id),
        **windows.settable(row),
        "localStart": row.starts_local.isoformat(),
        "status": status(known.spans, now, enabled=row.enabled),
        "until": max(running, default=None),
        "nextStart": following and following.starts_at,
        "nextEnd": following and following.ends_at,
        "occurrences": [_span(span) for span in known.spans],
        "revision": row.revision,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }
    return warned(answer, list(known.warnings))


def _span(span: WindowSpan) -> dict[str, str]:
    return {"start": iso(span.starts_at), "end": iso(span.ends_at)}
