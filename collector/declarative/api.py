"""Configuration as code: applies declared resources in one request, and exports a team's."""

from aiohttp import web

from collector.declarative.service import apply
from collector.declarative.service import export as declared_export
from collector.declarative.service.shape import ApplyContext
from collector.http.auth import actor, service_context
from collector.http.context import context_of
from collector.http.request_data import body, ok
from collector.status_pages.api.status_pages import own


async def carry_out(request: web.Request) -> web.Response:
    """Apply everything or nothing; with ``plan`` only return what would change."""
    asked, context = await body(request), context_of(request)
    outcome = await apply.apply(
        service_context(request), actor(request), asked, context.now, own=own(request)
    )
    return ok(apply.answer(outcome, plan=asked.get("plan", False)))


async def export(request: web.Request) -> web.Response:
    context = context_of(request)
    ground = ApplyContext(service_context(request), actor(request), own(request), context.now())
    return ok(await declared_export.export(ground))
