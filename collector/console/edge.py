"""Middleware of console pages: session, permission, CSRF, errors."""

import gzip
from functools import partial
from typing import Final

import structlog
from aiohttp import hdrs, web

from collector.console import answers, language, session
from collector.console.answers import page, posted, sign_in_first, value
from collector.console.site import SITE, ConsolePage, ConsoleSite
from collector.console.state import VISITOR, VISITORS, cookie, from_own_page, signed_out
from collector.console.visitor import Visitor
from collector.http import changes, problems, ratelimit
from collector.http.auth import NEEDS, X_CSRF
from collector.http.context import context_of
from collector.http.page_headers import NO_DEVICES, PERMISSIONS_POLICY, takes_gzip
from collector.platform import failures
from collector.platform.access import permits
from collector.platform.storage.db import asking
from shared.errors import Forbidden, Invalid, TocsinError

log = structlog.get_logger()

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# Smaller answers fit into one packet anyway. A higher level takes twice the time to save a tenth.
_WORTH_PACKING: Final = 1_000
_ZEAL: Final = 1
_SAFE: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_TRICKED: Final = (
    "This form is not from this session, or is too old. Go back, reload the page, and try again."
)


def register(app: web.Application, site: ConsoleSite, pages: tuple[ConsolePage, ...]) -> None:
    """Add the pages to *app*, after its other routes."""
    app[SITE] = site
    app[problems.NOWHERE] = nowhere
    needs = app[NEEDS]
    for route in pages:
        handler = partial(_serve, route)
        names = (route.method, hdrs.METH_HEAD) if route.method == hdrs.METH_GET else (route.method,)
        for name in names:
            app.router.add_route(name, route.path, handler)
            needs[name, route.path] = None


async def _serve(route: ConsolePage, request: web.Request) -> web.StreamResponse:
    """Serve one page; every error becomes a page too."""
    language.use(language.preferred(request.headers.get(hdrs.ACCEPT_LANGUAGE, "")))
    try:
        answer = await _guarded(route, request)
    except web.HTTPException as error:
        answer = _page_of(request, error.status, "That cannot be done", error.reason)
    except Exception as error:  # noqa: BLE001 - every error becomes a page
        answer = _failed(request, route, error)
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


async def _guarded(route: ConsolePage, request: web.Request) -> web.StreamResponse:
    visitor = await _visitor(request)
    if visitor is not None:
        request[VISITOR] = visitor
        if visitor.display.language is not None:
            language.use(visitor.display.language)
        await ratelimit.of_token(request, visitor.team_id, visitor.session_id, visitor.plan)
    if request.method not in _SAFE:
        _demand_own_origin(request)
    if route.needs is not None and visitor is None:
        return _to_the_door(request)
    if visitor is not None and visitor.lacks_second_factor and not _open_before(route):
        return answers.second_factor_first(request)
    if route.needs is not None and visitor is not None and not permits(visitor.permission, route.needs):
        raise Forbidden(
            language.gettext(
                "Your role lets you do what is %(held)s; this needs %(needed)s.",
                held=visitor.permission.value,
                needed=route.needs.value,
            )
        )
    if request.method not in _SAFE and visitor is not None and not await _bears_token(request):
        raise Forbidden(_TRICKED)
    with asking(visitor.team_id if visitor is not None else None):
        answer = await route.view(request)
    if visitor is not None:
        changes.announce(request, visitor.team_id)
    return answer


def _open_before(route: ConsolePage) -> bool:
    """Whether the page is open to a visitor who has yet to set up the second factor."""
    return route.needs is None or route.before_second_factor


async def _visitor(request: web.Request) -> Visitor | None:
    shown = cookie(request)
    return await request.app[VISITORS].find(shown, context_of(request).now()) if shown else None


def _to_the_door(request: web.Request) -> web.Response:
    answer = sign_in_first(request, context_of(request).public_url)
    if cookie(request):
        signed_out(request, answer)
    return answer


def _demand_own_origin(request: web.Request) -> None:
    """Check the form's origin: only our own pages may send one. Raises Forbidden."""
    if request.headers.get(hdrs.ORIGIN) is None or not from_own_page(request):
        raise Forbidden(_TRICKED)


async def _bears_token(request: web.Request) -> bool:
    shown = request.headers.get(X_CSRF) or value(await posted(request), "csrf")
    return session.fits(cookie(request), shown)


def _failed(request: web.Request, route: ConsolePage, error: Exception) -> web.Response:
    """Return the page about *error*; never log the path itself: it may hold the secret of a link."""
    known = failures.for_caller(error)
    if known is None:
        log.error("page failed", method=route.method, page=route.path, exc_info=error)
        return _page_of(
            request, failures.DEFECT.status, failures.DEFECT.title, "Something went wrong on our side."
        )
    if known is not error and failures.failure(known) is failures.PASSING:
        if request.transport is None or request.transport.is_closing():  # the client is gone
            return web.Response()
        log.warning("page failed temporarily", page=route.path, error=repr(error))
    return _refused(request, known)


def _refused(request: web.Request, error: TocsinError) -> web.Response:
    failure, text = failures.failure(error), str(error)
    if isinstance(error, Invalid) and error.details:
        text = "; ".join(f"{name} {fault}" for name, fault in error.details.items())
    answer = _page_of(request, failure.status, failure.title, text)
    if (seconds := failures.retry_after(error)) is not None:
        answer.headers[hdrs.RETRY_AFTER] = str(seconds)
    return answer


def _page_of(request: web.Request, status: int, title: str, text: str) -> web.Response:
    template = "failed.html.j2" if VISITOR in request else "failed_door.html.j2"
    return page(
        request, template, status=status, title=language.translate(title), text=language.translate(text)
    )


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
