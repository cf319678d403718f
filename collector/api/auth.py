"""Who calls: a bearer token on everything under /v1, looked up on each request."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from aiohttp import hdrs, web

from collector.api.deps import deps
from collector.core.access import Permission, needed_for, permits
from collector.services.tokens import Finder
from shared.errors import Forbidden, Unauthorized

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Caller:
    """*name* is the person's, as timelines show it."""

    team_id: int
    user_id: UUID
    token_id: UUID
    name: str
    permission: Permission


CALLER: web.RequestKey[Caller] = web.RequestKey("caller", Caller)
FINDER: web.AppKey[Finder] = web.AppKey("finder", Finder)
# What each route asks for, by method and path; None asks for no token.
NEEDS: web.AppKey[dict[tuple[str, str], Permission | None]] = web.AppKey("needs", dict)


def caller(request: web.Request) -> Caller:
    """Who sent this request."""
    return request[CALLER]


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """401 before all else under /v1, known path or not; then 403 before whatever the route would say."""
    needed = _needed(request)
    if needed is None:
        return await handler(request)
    request[CALLER] = who = await _identify(request)
    if not permits(who.permission, needed):
        raise Forbidden(f"This token is {who.permission.value}; this needs {needed.value}")
    return await handler(request)


def _needed(request: web.Request) -> Permission | None:
    resource = request.match_info.route.resource
    if resource is not None:
        return request.app[NEEDS][request.method, resource.canonical]
    under_v1 = request.path == "/v1" or request.path.startswith("/v1/")
    return needed_for(request.method) if under_v1 else None


async def _identify(request: web.Request) -> Caller:
    scheme, _, value = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthorized("Send a token: Authorization: Bearer <token>")
    found = await request.app[FINDER].find(value.strip(), deps(request).now())
    if found is None:
        raise Unauthorized("The token is invalid, expired or revoked")
    return Caller(found.team_id, found.user_id, found.id, found.user_name, found.permission)
