"""Refuses requests under /v1 without a good token before any route is looked up.

Refusing a guessed token must cost less than guessing it. Unusual requests go on to the guard, which gives the
same answer.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from email.utils import formatdate
from functools import lru_cache
from typing import Any, Final

from aiohttp import HttpVersion11, hdrs, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from multidict import istr

from collector.http import auth, problems, ratelimit, response_headers
from collector.http.auth import NEEDS, Handler
from collector.http.request_log import took
from collector.platform.bucket import BucketState
from collector.platform.metrics import http_requests

_EXPECT, _ORIGIN, _DATE = istr(hdrs.EXPECT), istr(hdrs.ORIGIN), istr(hdrs.DATE)
_LINES: Final = {401: "HTTP/1.1 401 Unauthorized", 429: "HTTP/1.1 429 Too Many Requests"}
_ROUTE: Final = ""  # the key of a route in the tree: no part of a path is empty


def before(app: web.Application, inner: Handler) -> Handler:
    """Wrap *inner*, *app*'s handler, with the admission check."""
    needs = app[NEEDS]
    # Paths with the prefix of a public route are left to the guard.
    open_ = tuple(
        path.partition("{")[0]
        for (_, path), needed in needs.items()
        if needed is None and ratelimit.counts(path)
    )
    routes = _tree(path for _, path in needs if ratelimit.counts(path))

    async def door(request: web.Request) -> web.StreamResponse:
        path = request.path
        if not ratelimit.counts(path) or path.startswith(open_) or not _is_plain(request):
            return await inner(request)
        start = time.perf_counter()
        reason = await auth.turned_away(app, request)
        if reason is None:
            return await inner(request)
        standing = await ratelimit.spend(app, auth.address_in(app, request))
        answer = _refusal(request, reason, standing, secure=auth.is_secure_in(app, request))
        route = _route(routes, path)
        http_requests.answered(route, answer.status)
        took(request.method, route, time.perf_counter() - start)
        return answer

    return door


def without_slash(make: Callable[..., web.BaseRequest]) -> Callable[..., web.BaseRequest]:
    """Wrap *make*, which creates requests, to strip a slash at the end of the path."""

    def made(message: RawRequestMessage, *rest: Any) -> web.BaseRequest:
        if message.path.endswith("/") or "/?" in message.path:
            path = message.url.raw_path
            if len(path) > 2 and path[-1] == "/" != path[-2]:
                url = message.url.with_path(path[:-1], encoded=True, keep_query=True)
                message = message._replace(path=str(url), url=url)
        return make(message, *rest)

    return made


class _Refusal(web.StreamResponse):
    """A response with precomputed headers: deriving them, as aiohttp does, doubles the cost of a refusal."""

    def __init__(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        super().__init__(status=status, headers=headers)
        self._whole = body

    @property
    def keep_alive(self) -> bool:
        return True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        self._to = request.writer
        await self._to.write_headers(_LINES[self.status], self.headers)
        return self._to

    async def write_eof(self, data: bytes = b"") -> None:
        await self._to.write_eof(data or self._whole)


def _is_plain(request: web.Request) -> bool:
    return (
        request.version == HttpVersion11
        and request.keep_alive
        and request.method != hdrs.METH_HEAD
        and not request.body_exists
        and _EXPECT not in request.headers
        and _ORIGIN not in request.headers
        and auth.X_CSRF not in request.headers
    )


def _refusal(request: web.Request, reason: str, standing: BucketState, *, secure: bool) -> web.StreamResponse:
    """Return 401, or 429 for an address over its limit."""
    if standing.admitted:
        answer = _Refusal(401, *_made(401, reason, None, secure=secure))
    else:
        answer = _Refusal(429, *_made(429, ratelimit.EXCEEDED, standing.retry_after_s, secure=secure))
    headers, now = answer.headers, time.time()
    headers[_DATE] = _date(int(now))
    headers[response_headers.X_REQUEST_ID] = response_headers.request_id(
        request.headers.get(response_headers.X_REQUEST_ID)
    )
    ratelimit.write_headers(headers, standing, now)
    return answer


@lru_cache(maxsize=256)
def _made(
    status: int, message: str, retry_after: int | None, *, secure: bool
) -> tuple[Sequence[tuple[str, str]], bytes]:
    """Return the headers that all responses of this kind have, and their body."""
    body, headers = problems.prepared(status, message, retry_after)
    every = {**headers, hdrs.CONTENT_LENGTH: str(len(body)), **response_headers.common(secure=secure)}
    return [(istr(name), value) for name, value in every.items()], body


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


def _tree(paths: Iterable[str]) -> dict[str, Any]:
    """Return routes by parts of their paths: ``{"v1": {"monitors": {"": "/v1/monitors", "{}": ...}}}``."""
    tree: dict[str, Any] = {}
    for path in paths:
        node = tree
        for part in path.split("/")[1:]:
            node = node.setdefault("{}" if part.startswith("{") else part, {})
        node[_ROUTE] = path
    return tree


def _route(tree: Mapping[str, Any], path: str) -> str:
    """Return the pattern of the route at *path*, empty without one: a label for metrics."""
    node: Any = tree
    for part in path.split("/")[1:]:
        node = node.get(part) or node.get("{}")
        if node is None or not part:
            return ""
    return str(node.get(_ROUTE, ""))
