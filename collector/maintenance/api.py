"""Maintenance windows: list, create, read, update, end, delete."""

from uuid import UUID

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.maintenance.answers import Occurrence, WindowAnswer
from collector.maintenance.core.windows import WindowStatus, status
from collector.maintenance.service import windows
from collector.maintenance.service.windows import WindowDetails
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at, wanted = pages.page(query), query.one_of("status", tuple(WindowStatus))
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


def _shown(request: web.Request, known: WindowDetails) -> WindowAnswer:
    row, now = known.row, context_of(request).now()
    running = [span.ends_at for span in known.spans if span.starts_at <= now]
    following = [span for span in known.spans if span.starts_at > now][:1]
    return WindowAnswer(
        id=ids.show("mw", row.id),
        name=row.name,
        description=row.description,
        monitors=[ids.show("mon", id_) for id_ in row.monitors],
        tags=row.tags,
        all=row.every,
        start=row.starts_at,
        end=row.starts_at + row.schedule.duration,
        duration=row.duration_s,
        timezone=row.timezone,
        rrule=row.rrule,
        exdates=[day.isoformat() for day in row.exdates],
        enabled=row.enabled,
        local_start=row.starts_local.isoformat(),
        status=status(known.spans, now, enabled=row.enabled),
        until=max(running, default=None),
        next_start=next((span.starts_at for span in following), None),
        next_end=next((span.ends_at for span in following), None),
        occurrences=[Occurrence(start=span.starts_at, end=span.ends_at) for span in known.spans],
        revision=row.revision,
        created_at=row.created_at,
        updated_at=row.updated_at,
        warnings=list(known.warnings) or None,
    )
