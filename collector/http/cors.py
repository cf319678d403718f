"""CORS: which origins may call the API, and which response headers their scripts may read."""

from typing import Final

from aiohttp import hdrs, web
from multidict import istr

from collector.http import ratelimit
from collector.http.auth import Handler
from collector.http.context import CONTEXT

_ORIGIN: Final = istr(hdrs.ORIGIN)
_KEPT_S: Final = 600
_PREFLIGHT: Final = {
    hdrs.ACCESS_CONTROL_ALLOW_METHODS: "GET, HEAD, POST, PUT, PATCH, DELETE",
    hdrs.ACCESS_CONTROL_ALLOW_HEADERS: (
        "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id"
    ),
    hdrs.ACCESS_CONTROL_MAX_AGE: str(_KEPT_S),
}
_EXPOSED: Final = (
    "ETag, Idempotent-Replayed, Link, Location, Retry-After, X-RateLimit-Burst, X-RateLimit-Limit, "
    "X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id"
)


@web.middleware
async def preflight(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer preflight requests, which have no token, of allowed origins."""
    asks = request.method == hdrs.METH_OPTIONS and hdrs.ACCESS_CONTROL_REQUEST_METHOD in request.headers
    if asks and _origin(request) is not None:
        return web.Response(status=204, headers=_PREFLIGHT)
    return await handler(request)


def mark(request: web.Request, response: web.StreamResponse) -> None:
    """Add the headers that let scripts of an allowed origin read the response."""
    if not request.app[CONTEXT].cors_origins or not ratelimit.is_api(request.path):
        return
    response.headers.add(hdrs.VARY, hdrs.ORIGIN)
    origin = _origin(request)
    if origin is not None:
        response.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = origin
        response.headers[hdrs.ACCESS_CONTROL_EXPOSE_HEADERS] = _EXPOSED


def _origin(request: web.Request) -> str | None:
    """Return the origin of the calling script, if allowed."""
    origin = request.headers.get(_ORIGIN)
    allowed = request.app[CONTEXT].cors_origins
    return origin if origin in allowed and ratelimit.is_api(request.path) else None
