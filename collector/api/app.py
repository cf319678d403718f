"""The HTTP server: the application that the routes make, and what goes around every request."""

import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import cache
from itertools import count

import structlog
from aiohttp import hdrs, web
from multidict import istr
from prometheus_client import Counter

from collector.api import (
    auth,
    docs,
    idempotency,
    problems,
    ratelimit,
    routes,
    status_pages_domains,
    status_pages_entry,
    status_pages_public,
    status_pages_public_subscribers,
)
from collector.api.auth import REQUEST_ID, Handler
from collector.api.console import pages as console
from collector.api.deps import DEPS, Deps
from collector.api.reading import MAX_BODY
from collector.metrics import http_request_seconds, http_requests
from collector.services import monitor_reads
from collector.services.tokens import Finder
from shared.errors import CannotStart

log = structlog.get_logger()

_SERVER = "tocsin"
_X_CONTENT_TYPE_OPTIONS, _HSTS = istr("X-Content-Type-Options"), istr("Strict-Transport-Security")
_HALF_A_YEAR = "max-age=15552000"
_X_REQUEST_ID = istr("X-Request-Id")
_SANE_ID = re.compile(r"[\x21-\x7e]{1,128}")
# Nobody is to guess an id, only to tell one from all others: chance is asked once.
_RUN, _REQUESTS = secrets.token_hex(12), count(1)
# As structlog's own `bind_contextvars` names it, which looks for it anew each time.
_LOGGED_ID = ContextVar[str](structlog.contextvars.STRUCTLOG_KEY_PREFIX + "request_id")
_SLOW_S = 1.0
_KEEPALIVE_S = 75.0
_SHUTDOWN_S = 5.0


def make(deps: Deps) -> web.Application:
    """The application; `serve` runs it."""
    around = [watch, problems.explain, auth.guard, status_pages_domains.by_domain, idempotency.repeat]
    app = web.Application(middlewares=around, client_max_size=MAX_BODY)
    app[DEPS] = deps
    app[auth.FINDER] = Finder(deps.db)
    app[docs.TEXTS] = {}
    app[status_pages_public.PUBLIC] = status_pages_public.Public()
    app[status_pages_entry.HASHING] = status_pages_entry.gate()
    app[status_pages_public_subscribers.ASKERS] = status_pages_public_subscribers.askers()
    app.cleanup_ctx.append(ratelimit.running)
    app.on_cleanup.append(_let_go)
    app.on_response_prepare.append(_marking(deps.public_url))
    routes.register(app)
    console.register(app)
    return app


async def serve(app: web.Application, listen: str, *, shared_port: bool = False) -> web.AppRunner:
    """Serve *app* on ``host:port`` until the runner's cleanup. Raises CannotStart if that cannot be had."""
    web.RequestHandler.handle_error = _unreadable  # type: ignore[assignment, method-assign]
    logging.getLogger("aiohttp.server").addFilter(_is_ours)
    host, _, port = listen.rpartition(":")
    runner = web.AppRunner(
        app,
        access_log=None,
        handler_cancellation=False,
        keepalive_timeout=_KEEPALIVE_S,
        shutdown_timeout=_SHUTDOWN_S,
    )
    await runner.setup()
    try:
        site = web.TCPSite(
            runner, host.strip("[]") or None, int(port), backlog=1024, reuse_port=shared_port or None
        )
        await site.start()
    except OSError as error:
        await runner.cleanup()
        raise CannotStart(f"cannot listen on {listen}: {error.strerror or error}") from error
    return runner


@web.middleware
async def watch(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give the request its id, count it, log it if it was slow: an access log would halve the throughput."""
    start = time.perf_counter()
    request[REQUEST_ID] = request_id = _request_id(request.headers.get(_X_REQUEST_ID))
    _LOGGED_ID.set(request_id)  # in this request's task alone
    response = await handler(request)
    resource = request.match_info.route.resource
    _counter(resource.canonical if resource else "", response.status).inc()
    if isinstance(response, web.Response):  # a stream lasts as long as its client likes
        seconds = time.perf_counter() - start
        http_request_seconds.observe(seconds)
        if seconds > _SLOW_S:
            where = problems.place(request)
            log.warning("slow request", method=request.method, path=where, seconds=round(seconds, 3))
    return response


@cache
def _counter(route: str, status: int) -> Counter:
    return http_requests.labels(route, status)


def _unreadable(
    connection: web.RequestHandler,
    request: web.BaseRequest,
    status: int = 500,
    exc: BaseException | None = None,
    message: str | None = None,
) -> web.Response:
    """Answer what is no HTTP, too long, or failed around the application, in our shape.

    aiohttp's own answer tells its version and logs a stack trace for each stray byte, and nothing that it
    offers replaces it for an application.
    """
    del connection, message
    if request.writer.output_size > 0:
        raise ConnectionError("a part of the response is sent already")
    if status < 500:
        log.info("unreadable request", remote=request.remote, error=type(exc).__name__)
        response = problems.problem(status, "The request cannot be read")
    else:
        log.error("request failed outside its handler", exc_info=exc)
        response = problems.problem(status, "Something went wrong here")
    response.headers[hdrs.SERVER] = _SERVER
    response.headers[_X_REQUEST_ID] = _request_id(None)
    response.headers[_X_CONTENT_TYPE_OPTIONS] = "nosniff"
    response.force_close()
    return response


def _is_ours(record: logging.LogRecord) -> bool:
    """Not a body that is not packed as it says: whoever sends one was told so, and fills no log."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, web.RequestPayloadError)


async def _let_go(app: web.Application) -> None:
    await app[auth.FINDER].close()
    await monitor_reads.close(app[DEPS].db)


def _request_id(sent: str | None) -> str:
    return sent if sent is not None and _SANE_ID.fullmatch(sent) else f"{_RUN}{next(_REQUESTS):08x}"


def _marking(public_url: str) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """What gives every answer the headers that every answer bears."""
    encrypted = public_url.startswith("https://")

    async def mark(request: web.Request, response: web.StreamResponse) -> None:
        if type(response) is not web.Response and isinstance(response, web.HTTPException):
            problems.reshape(response)
        headers = response.headers
        headers[hdrs.SERVER] = _SERVER
        headers[_X_CONTENT_TYPE_OPTIONS] = "nosniff"
        if encrypted:
            headers[_HSTS] = _HALF_A_YEAR
        headers[_X_REQUEST_ID] = request.get(REQUEST_ID) or _request_id(None)
        if request.content.exception() is not None:  # what comes next on this connection is nobody's to say
            response.force_close()
            headers[hdrs.CONNECTION] = "close"
        ratelimit.mark(request, response, auth.address)

    return mark
