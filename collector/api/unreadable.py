"""What is no HTTP at all: answered in our shape, and counted as any request without a good token is."""

import time
from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

import structlog
from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from collector.api import marks, problems, ratelimit
from collector.api.deps import DEPS
from collector.metrics import http_requests

log = structlog.get_logger()

_NO_HTTP: Final = {
    "request": "must be HTTP/1.1: a method and an encoding that are known, no line over 8190 bytes"
}
# aiohttp tells of a connection whose server it is, and not whose application.
_APPS: Final[WeakKeyDictionary[web.Server, web.Application]] = WeakKeyDictionary()


def answer_for(server: web.Server, app: web.Application) -> None:
    """From now on what nobody can read on *server* is answered as *app*'s.

    aiohttp's own answer tells its version and logs a stack trace for each stray byte, and nothing that it
    offers replaces it for an application.
    """
    _APPS[server] = app
    web.RequestHandler.handle_error = _answer  # type: ignore[assignment, method-assign]


class _Counted(web.Response):
    """An answer that counts its request when it is sent: only then can a bucket be waited for."""

    def __init__(self, app: web.Application | None, status: int, why: str) -> None:
        details = _NO_HTTP if status == 400 else None
        told = problems.problem(status, "The request cannot be read", details=details)
        super().__init__(body=told.body, status=status, headers=_marked(told.headers, app))
        self._app, self._why = app, why

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        if self._app is not None:
            standing = await ratelimit.spend(self._app, request.remote or "")
            if standing.admitted:
                log.info("unreadable request", remote=request.remote, error=self._why)
            else:
                over = problems.problem(429, ratelimit.EXCEEDED, retry_after=standing.retry_after_s)
                self.set_status(429)
                self.body = over.body
                self.headers.update(over.headers)
            ratelimit.tell(self.headers, standing, time.time())
            http_requests.answered("", self.status)
        return await super().prepare(request)


def _answer(
    connection: web.RequestHandler,
    request: web.BaseRequest,
    status: int = 500,
    exc: BaseException | None = None,
    message: str | None = None,
) -> web.Response:
    """Answer what is no HTTP, too long, or failed around the application."""
    del message
    if request.writer.output_size > 0:
        raise ConnectionError("a part of the response is sent already")
    server = connection._manager  # noqa: SLF001 - it says so nowhere else
    app = _APPS.get(server) if server is not None else None
    if status < 500:
        response: web.Response = _Counted(app, status, type(exc).__name__)
    else:
        log.error("request failed outside its handler", exc_info=exc)
        told = problems.problem(status, "Something went wrong here")
        response = web.Response(body=told.body, status=status, headers=_marked(told.headers, app))
        if app is not None:
            ratelimit.tell(response.headers, ratelimit.look(app, request.remote or ""), time.time())
    response.force_close()
    return response


def _marked(headers: Mapping[str, Any], app: web.Application | None) -> dict[str, str]:
    public_url = app[DEPS].public_url if app is not None else ""
    return {**headers, **marks.common(public_url), marks.X_REQUEST_ID: marks.request_id(None)}
