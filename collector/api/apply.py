"""Configuration as code: what files declare is made so in one request, and what a team has is said so."""

from aiohttp import web

from collector.api.auth import actor
from collector.api.deps import deps, own
from collector.api.monitors import means
from collector.api.reading import body, ok, warned
from collector.services import declared, declared_export
from collector.services.declared_shape import Ground


async def carry_out(request: web.Request) -> web.Response:
    """All of it or nothing; with ``plan`` nothing, and what would change."""
    asked, at_hand = await body(request), deps(request)
    outcome = await declared.apply(means(request), actor(request), asked, at_hand.now, own=own(request))
    return ok(warned(declared.told(outcome, plan=asked.get("plan", False)), outcome.warnings))


async def export(request: web.Request) -> web.Response:
    at_hand = deps(request)
    ground = Ground(means(request), actor(request), own(request), at_hand.now())
    return ok(await declared_export.export(ground))
