"""Logs each request: id, outcome, duration."""

import time
from contextvars import ContextVar
from typing import Final

import structlog
from aiohttp import web

from collector.http.auth import REQUEST_ID, Handler
from collector.http.response_headers import X_REQUEST_ID, request_id
from collector.platform.metrics import http_requests

log = structlog.get_logger()

# structlog's own name for it; its `bind_contextvars` would look the variable up each time.
_LOGGED_ID = ContextVar[str](structlog.contextvars.STRUCTLOG_KEY_PREFIX + "request_id")
_SLOW_S: Final = 1.0


@web.middleware
async def watch(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give the request its id, count it, and log it if slow: an access log would halve the throughput."""
    start = time.perf_counter()
    request[REQUEST_ID] = id_ = request_id(request.headers.get(X_REQUEST_ID))
    _LOGGED_ID.set(id_)  # in this request's task only
    response = await handler(request)
    resource = request.match_info.route.resource
    route = resource.canonical if resource else ""
    http_requests.answered(route, response.status)
    if isinstance(response, web.Response):  # a stream lasts as long as its client wants
        took(request.method, route, time.perf_counter() - start)
    return response


def took(method: str, route: str, seconds: float) -> None:
    """Record a request's duration. A log has only the route: the path may hold a key, or a secret."""
    http_requests.took(seconds)
    if seconds > _SLOW_S:
        log.warning("slow request", method=method, path=route or "unknown", seconds=round(seconds, 3))
