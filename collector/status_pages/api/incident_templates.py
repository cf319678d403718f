"""Templates of incidents on status pages: list, create, read, update, delete."""

from collections.abc import Sequence
from uuid import UUID

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, no_content, ok, path_id
from collector.status_pages.answers import IncidentTemplateAnswer
from collector.status_pages.service import incident_templates
from collector.status_pages.service.incident_templates import PREFIX, WHAT
from collector.status_pages.storage.incident_templates import IncidentTemplate
from shared import ids


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.asked(query)
    query.done()
    limit, offset = (at.limit, at.offset) if at else (None, 0)
    rows, total = await incident_templates.page(
        context_of(request).db, caller(request).team_id, limit, offset
    )
    return pages.listed(request, at, [_shown(row) for row in rows], total)


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    made = await incident_templates.create(context.db, actor(request), await body(request), context.now())
    return ok(_shown(made.row, made.warnings), 201)


async def get(request: web.Request) -> web.Response:
    return ok(_shown(await _found(request)))


async def update(request: web.Request) -> web.Response:
    context, row = context_of(request), await _found(request)
    changed = await incident_templates.update(
        context.db, actor(request), row.id, await body(request), context.now()
    )
    return ok(_shown(changed.row, changed.warnings))


async def delete(request: web.Request) -> web.Response:
    await incident_templates.delete(context_of(request).db, actor(request), _id(request))
    return no_content()


def _id(request: web.Request) -> UUID:
    return path_id(request, PREFIX, WHAT)


async def _found(request: web.Request) -> IncidentTemplate:
    """The template in the path, if it exists: 404 takes precedence over other errors."""
    return await incident_templates.one(context_of(request).db, caller(request).team_id, _id(request))


def _shown(row: IncidentTemplate, warnings: Sequence[str] = ()) -> IncidentTemplateAnswer:
    return IncidentTemplateAnswer(
        id=ids.show(PREFIX, row.id),
        name=row.name,
        title=row.title,
        status=row.status,
        severity=row.severity,
        component_status=row.component_status,
        message=row.message,
        created_at=row.created_at,
        updated_at=row.updated_at,
        warnings=list(warnings) or None,
    )
