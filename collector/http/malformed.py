"""Requests that are not HTTP: answered as JSON, and counted like those without a good token."""

import time
from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

import structlog
from aiohttp import web, web_protocol
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import HttpRequestParser
from aiohttp.http_exceptions import HttpProcessingError

from collector.http import problems, ratelimit, response_headers
from collector.http.client_address import client_address
from collector.http.context import CONTEXT
from collector.platform.metrics import http_requests

log = structlog.get_logger()

_NO_HTTP: Final = {
    "request": "must be HTTP/1.1: a method and an encoding that are known, no line over 8190 bytes"
}
_SENT: Final[WeakKeyDictionary[BaseException, bytes]] = WeakKeyDictionary()
# aiohttp gives the server of a connection, but not its application.
_APPS: Final[WeakKeyDictionary[web.Server, web.Application]] = WeakKeyDictionary()


def answer_for(server: web.Server, app: web.Application) -> None:
    """Answer unreadable requests on *server* in the style of *app*.

    aiohttp's own answer reveals its version and logs a stack trace for each stray byte, and it offers no way
    to replace that for an application.
    """
    _APPS[server] = app
    web.RequestHandler.handle_error = _answer  # type: ignore[assignment, method-assign]
    web_protocol.HttpRequestParser = _Parser  # type: ignore[attr-defined]


class _Parser(HttpRequestParser):
    """Keeps the bytes of an error: a trusted proxy's header in them gives the client's address."""

    def feed_data(self, data: bytes, *rest: Any) -> Any:
        try:
            return super().feed_data(data, *rest)
        except HttpProcessingError as error:
            _SENT[error] = data
            raise


class _CountedResponse(web.Response):
    """A response that counts its request while it is sent: only then can it wait for a bucket."""

    def __init__(self, app: web.Application | None, status: int, error: BaseException | None) -> None:
        details = _NO_HTTP if status == 400 else None
        answer = problems.problem(status, "The request cannot be read", details=details)
        super().__init__(body=answer.body, status=status, headers=_marked(answer.headers, app))
        self._app, self._why = app, type(error).__name__
        self._forwarded = _forwarded(_SENT.get(error, b"")) if error is not None else ()

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        if self._app is not None:
            trusted = self._app[CONTEXT].trusted_proxies
            address = client_address(request.remote or "", self._forwarded, trusted)
            standing = await ratelimit.spend(self._app, address)
            if standing.admitted:
                log.info("unreadable request", remote=address, error=self._why)
            else:
                over = problems.problem(429, ratelimit.EXCEEDED, retry_after=standing.retry_after_s)
                self.set_status(429)
                self.body = over.body
                self.headers.update(over.headers)
            ratelimit.write_headers(self.headers, standing, time.time())
            http_requests.answered("", self.status)
        return await super().prepare(request)


def _answer(
    connection: web.RequestHandler,
    request: web.BaseRequest,
    status: int = 500,
    exc: BaseException | None = None,
    message: str | None = None,
) -> web.Response:
    """Answer requests that are no HTTP, too long, or failed outside of the application."""
    del message
    if request.writer.output_size > 0:
        raise ConnectionError("a part of the response is sent already")
    server = connection._manager  # noqa: SLF001 - no public attribute has it
    app = _APPS.get(server) if server is not None else None
    if status < 500:
        response: web.Response = _CountedResponse(app, status, exc)
    else:
        log.error("request failed outside its handler", exc_info=exc)
        answer = problems.problem(status, "Something went wrong here")
        response = web.Response(body=answer.body, status=status, headers=_marked(answer.headers, app))
        if app is not None:
            ratelimit.write_headers(response.headers, ratelimit.look(app, request.remote or ""), time.time())
    response.force_close()
    return response


def _marked(headers: Mapping[str, Any], app: web.Application | None) -> dict[str, str]:
    secure = app is not None and app[CONTEXT].public_url.startswith("https:")
    return {
        **headers,
        **response_headers.common(secure=secure),
        response_headers.X_REQUEST_ID: response_headers.request_id(None),
    }


def _forwarded(sent: bytes) -> tuple[str, ...]:
    """Return the lines of X-Forwarded-For in the head of *sent*."""
    head = sent.partition(b"\r\n\r\n")[0]
    named = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return tuple(
        value.decode("latin-1").strip()
        for name, _, value in named
        if name.strip().lower() == b"x-forwarded-for"
    )
