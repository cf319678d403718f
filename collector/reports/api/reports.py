"""Reports: list, create, read, update, delete."""

from uuid import UUID

from aiohttp import web

from collector.http import conditional, pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.reports.answers import ReportAnswer
from collector.reports.service import reports
from collector.reports.service.reports import ReportDetails, settable
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.page(query)
    query.done()
    found, total = await reports.page(context_of(request).db, caller(request).team_id, at.limit, at.offset)
    return pages.answer(request, at, [shown(known) for known in found], total)


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await reports.create(context.db, actor(request), await body(request), context.now())
    return ok(shown(made), 201, conditional.tagged(made.row.revision))


async def get(request: web.Request) -> web.Response:
    known = await _found(request)
    if (same := conditional.unchanged(request, known.row.revision)) is not None:
        return same
    return ok(shown(known), headers=conditional.shown(known.row.revision))


async def update(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = (await _found(request)).row.id
    only, sent = conditional.only(request), await body(request)
    known = await reports.update(context.db, actor(request), id_, sent, context.now(), only=only)
    return ok(shown(known), headers=conditional.tagged(known.row.revision))


async def delete(request: web.Request) -> web.Response:
    id_ = (await _found(request)).row.id
    await reports.delete(context_of(request).db, actor(request), id_, only=conditional.only(request))
    return no_content()


def report_id(request: web.Request, name: str = "id") -> UUID:
    """Return the report's id in the path. Raises NotFound."""
    return path_id(request, "rep", reports.WHAT, name)


async def _found(request: web.Request) -> ReportDetails:
    """The report in the path, if it exists: 404 takes precedence over other errors."""
    return await reports.one(context_of(request).db, caller(request).team_id, report_id(request))


def shown(known: ReportDetails) -> ReportAnswer:
    """Return the response for a report."""
    row, values = known.row, settable(known.row)
    return ReportAnswer(
        id=ids.show("rep", row.id),
        name=row.name,
        status_page=values["statusPage"],
        monitors=values["monitors"],
        tags=row.tags,
        period=row.period.value,
        first_day=row.first_day,
        last_day=row.last_day,
        timezone=row.timezone,
        send_hour=row.send_hour,
        business_hours=row.business_hours,
        target=row.target,
        recipients=list(row.recipients),
        enabled=row.enabled,
        next_at=row.due_at,
        revision=row.revision,
        created_at=row.created_at,
        updated_at=row.updated_at,
        warnings=list(known.warnings) or None,
    )
