"""Middleware of console pages: session, permission, CSRF, errors."""

import gzip
from functools import partial
from typing import Final

import asyncpg
import structlog
from aiohttp import hdrs, web

from collector.console import session
from collector.console.answers import page, posted, sign_in_first, value
from collector.console.site import SITE, ConsolePage, ConsoleSite
from collector.console.state import VISITOR, VISITORS, cookie, signed_out
from collector.console.visitor import Visitor
from collector.http import changes, problems, ratelimit
from collector.http.auth import NEEDS
from collector.http.context import context_of
from collector.http.page_headers import NO_DEVICES, PERMISSIONS_POLICY, takes_gzip
from collector.http.problems import AWAY
from collector.platform.access import permits
from collector.platform.storage.db import asking
from shared.errors import (
    BodyTooLarge,
    Conflict,
    Forbidden,
    Invalid,
    Limited,
    NotFound,
    TocsinError,
    Unavailable,
)

log = structlog.get_logger()

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Smaller answers fit into one packet anyway. A higher level takes twice the time to save a tenth.
_WORTH_PACKING: Final = 1_000
_ZEAL: Final = 1
_SAFE: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_STATUS: Final[dict[type[TocsinError], tuple[int, str]]] = {
    Invalid: (400, "That cannot be done"),
    BodyTooLarge: (413, "That is too large"),
    Forbidden: (403, "Not allowed"),
    NotFound: (404, "Not found"),
    Conflict: (409, "That is not possible now"),
    Limited: (429, "Too many requests"),
    Unavailable: (503, "Not right now"),
}
_TRICKED: Final = (
    "This form is not from this session, or is too old. Go back, reload the page, and try again."
)


def register(app: web.Application, site: ConsoleSite, pages: tuple[ConsolePage, ...]) -> None:
    """Add the pages to *app*, after its other routes."""
    app[SITE] = site
    app[problems.NOWHERE] = nowhere
    needs = app[NEEDS]
    for one in pages:
        handler = partial(_serve, one)
        names = (one.method, hdrs.METH_HEAD) if one.method == hdrs.METH_GET else (one.method,)
        for name in names:
            app.router.add_route(name, one.path, handler)
            needs[name, one.path] = None


async def _serve(one: ConsolePage, request: web.Request) -> web.StreamResponse:
    """Serve one page; every error becomes a page too."""
    try:
        answer = await _guarded(one, request)
    except TocsinError as error:
        answer = _failed(request, error)
    except (asyncpg.UniqueViolationError, asyncpg.ForeignKeyViolationError):
        answer = _failed(request, Conflict("Somebody else changed the same thing at the same time"))
    except web.HTTPException as error:
        answer = _page_of(request, error.status, "That cannot be done", error.reason)
    except AWAY as error:
        if request.transport is None or request.transport.is_closing():  # the client is gone
            return web.Response()
        log.warning("page failed temporarily", page=one.path, error=repr(error))
        answer = _failed(request, Unavailable("This cannot be done right now; try again in a moment"))
    except Exception:
        # Never log the path itself: it may hold the secret of a link.
        log.exception("page failed", method=one.method, page=one.path)
        answer = _page_of(request, 500, "Something went wrong", "Something went wrong on our side.")
    if not answer.prepared:
        _protect(answer)
        _pack(request, answer)
    return answer


async def nowhere(request: web.Request, refusal: web.HTTPException) -> web.StreamResponse:
    """Serve a 404 page, within the visitor's own navigation if there is a session."""

    async def view(request: web.Request) -> web.StreamResponse:
        answer = _page_of(request, refusal.status, "Not found", "There is no page at this address.")
        if hdrs.ALLOW in refusal.headers:
            answer.headers[hdrs.ALLOW] = refusal.headers[hdrs.ALLOW]
        return answer

    return await _serve(ConsolePage(hdrs.METH_GET, "unknown", view, None), request)


async def _guarded(one: ConsolePage, request: web.Request) -> web.StreamResponse:
    visitor = await _visitor(request)
    if visitor is not None:
        request[VISITOR] = visitor
        await ratelimit.of_token(request, visitor.team_id, visitor.session_id, visitor.plan)
    if request.method not in _SAFE:
        _demand_own_origin(request)
    if one.needs is not None and visitor is None:
        return _to_the_door(request)
    if one.needs is not None and visitor is not None and not permits(visitor.permission, one.needs):
        raise Forbidden(
            f"Your role lets you do what is {visitor.permission.value}; this needs {one.needs.value}."
        )
    if request.method not in _SAFE and visitor is not None and not await _bears_token(request):
        raise Forbidden(_TRICKED)
    with asking(visitor.team_id if visitor is not None else None):
        answer = await one.view(request)
    if visitor is not None:
        changes.announce(request, visitor.team_id)
    return answer


async def _visitor(request: web.Request) -> Visitor | None:
    shown = cookie(request)
    return await request.app[VISITORS].find(shown, context_of(request).now()) if shown else None


def _to_the_door(request: web.Request) -> web.Response:
    answer = sign_in_first(request)
    if cookie(request):
        signed_out(request, answer)
    return answer


def _demand_own_origin(request: web.Request) -> None:
    """Check the form's origin: only our own pages may send one. Raises Forbidden."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get(hdrs.ORIGIN)
    own = session.same_origin(origin, request.host, context_of(request).public_url)
    if not own or site in ("cross-site", "same-site"):
        raise Forbidden(_TRICKED)


async def _bears_token(request: web.Request) -> bool:
    shown = request.headers.get("X-CSRF") or value(await posted(request), "csrf")
    return session.fits(cookie(request), shown)


def _failed(request: web.Request, error: TocsinError) -> web.Response:
    status, title = _STATUS.get(type(error), (500, "Something went wrong"))
    if status == 500:
        log.error("page failed", exc_info=error)
        return _page_of(request, status, title, "Something went wrong on our side.")
    text = str(error)
    if isinstance(error, Invalid) and error.details:
        text = "; ".join(f"{name} {fault}" for name, fault in error.details.items())
    answer = _page_of(request, status, title, text)
    if isinstance(error, Limited | Unavailable):
        answer.headers[hdrs.RETRY_AFTER] = str(error.retry_after)
    return answer


def _page_of(request: web.Request, status: int, title: str, text: str) -> web.Response:
    template = "failed.html.j2" if VISITOR in request else "failed_door.html.j2"
    return page(request, template, status=status, title=title, text=text)


def _protect(answer: web.StreamResponse) -> None:
    headers = answer.headers
    headers.setdefault("Content-Security-Policy", POLICY)
    headers.setdefault(hdrs.CACHE_CONTROL, "no-store")
    headers["X-Content-Type-Options"] = "nosniff"
    headers.setdefault("X-Frame-Options", "DENY")
    headers["Referrer-Policy"] = "same-origin"
    headers["X-Robots-Tag"] = "noindex"
    headers[PERMISSIONS_POLICY] = NO_DEVICES
    headers["Cross-Origin-Opener-Policy"] = "same-origin"


def _pack(request: web.Request, answer: web.StreamResponse) -> None:
    """Compress HTML if accepted; form tokens are masked anew each time, so the size reveals nothing."""
    if not isinstance(answer, web.Response) or answer.content_type != "text/html":
        return
    answer.headers.add(hdrs.VARY, hdrs.ACCEPT_ENCODING)
    body = answer.body
    taken = takes_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, ""))
    if taken and isinstance(body, bytes) and len(body) >= _WORTH_PACKING:
        answer.body = gzip.compress(body, _ZEAL, mtime=0)
        answer.headers[hdrs.CONTENT_ENCODING] = "gzip"
