"""Renders errors as responses of the API, by the table of failures."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache, lru_cache
from http import HTTPStatus
from typing import Any

import orjson
import structlog
from aiohttp import hdrs, web

from collector.http.auth import Handler
from collector.http.request_data import JSON
from collector.platform import failures
from collector.platform.prepared import ResultsMissing
from shared.errors import Invalid, TocsinError

log = structlog.get_logger()

_MESSAGE = {
    404: "There is nothing here",
    405: "This method is not allowed here",
    500: "Something went wrong here; it is logged under this request's id",
}
# Renders the page for a browser at an unknown path.
Nowhere = Callable[[web.Request, web.HTTPException], Awaitable[web.StreamResponse]]
NOWHERE: web.AppKey[Nowhere] = web.AppKey("nowhere")
_FOR_PROGRAMS = ("/v1/", "/api/")


@web.middleware
async def explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn every exception of a handler into the API's error response."""
    try:
        return await handler(request)
    except ResultsMissing:
        raise
    except web.HTTPException as error:
        return await _unrouted(request, error)
    except Exception as error:  # noqa: BLE001 - it is logged there
        # There, for a name of the error in a frame of its traceback would keep both, and with them the body
        # of the request, until the garbage collector comes.
        return _failed(request, error)


def _failed(request: web.Request, error: Exception) -> web.Response:
    known = failures.for_caller(error)
    if known is None:
        log.error("request failed", method=request.method, path=place(request), exc_info=error)
        return problem(500, _MESSAGE[500])
    if known is not error and failures.failure(known) is failures.PASSING:
        log.warning("request failed temporarily", path=place(request), error=repr(error))
    return _rendered(known)


async def _unrouted(request: web.Request, refusal: web.HTTPException) -> web.StreamResponse:
    """Return a page for a browser at an unknown path, and JSON for programs."""
    if refusal.status in {404, 405} and _browses(request):
        return await request.app[NOWHERE](request, refusal)
    return _refused(refusal)


def _browses(request: web.Request) -> bool:
    """Whether a browser requests a path outside of the API."""
    return (
        request.method in {hdrs.METH_GET, hdrs.METH_HEAD}
        and "text/html" in request.headers.get(hdrs.ACCEPT, "")
        and not f"{request.path}/".startswith(_FOR_PROGRAMS)
    )


def place(request: web.Request) -> str:
    """Return the route's pattern, for logs: the path itself may hold a key, or the secret of a link."""
    resource = request.match_info.route.resource
    return resource.canonical if resource else "unknown"


def problem(
    status: int,
    message: str,
    *,
    details: Mapping[str, str] | None = None,
    retry_after: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """Return ``{error, message, status}``, with *details* or *retryAfter* if given."""
    body, usual = prepared(status, message, retry_after)
    return web.Response(
        body=body if details is None else _detailed(status, message, details),
        status=status,
        headers={**usual, **headers} if headers else usual,
    )


@lru_cache(maxsize=256)
def prepared(status: int, message: str, retry_after: int | None) -> tuple[bytes, Mapping[str, str]]:
    """Return body and headers, cached: a flood of refusals must be cheap."""
    data: dict[str, Any] = {"error": _name(status), "message": message, "status": status}
    headers: dict[str, str] = {hdrs.CONTENT_TYPE: JSON}
    if status == HTTPStatus.UNAUTHORIZED:
        headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
    if retry_after is not None:
        data["retryAfter"] = retry_after
        headers[hdrs.RETRY_AFTER] = str(retry_after)
    return orjson.dumps(data), headers


def _detailed(status: int, message: str, details: Mapping[str, str]) -> bytes:
    return orjson.dumps({"error": _name(status), "message": message, "status": status, "details": details})


def reshape(refusal: web.HTTPException) -> None:
    """Give refusals of the web server itself (such as an unknown Expect) the API's error shape."""
    answer = problem(refusal.status, _name(refusal.status))
    refusal.body = answer.body
    refusal.headers.update(answer.headers)
    refusal.headers[hdrs.CONTENT_LENGTH] = str(answer.content_length)


def _rendered(error: TocsinError) -> web.Response:
    status = failures.failure(error).status
    return problem(
        status,
        str(error) or _name(status),
        details=error.details if isinstance(error, Invalid) else None,
        retry_after=failures.retry_after(error),
    )


def _refused(error: web.HTTPException) -> web.Response:
    """Convert refusals of the web server: unknown paths, methods, bodies that are too large."""
    if error.status >= 500:
        log.error("request failed", exc_info=error)
    headers: dict[str, str] = {}
    if isinstance(error, web.HTTPMethodNotAllowed):
        headers[hdrs.ALLOW] = ", ".join(sorted(error.allowed_methods))
    return problem(error.status, _MESSAGE.get(error.status, error.reason), headers=headers)


@cache
def _name(status: int) -> str:
    return {413: "Payload Too Large"}.get(status) or HTTPStatus(status).phrase
