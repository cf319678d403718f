"""The visitor of a request, and the cookies of the console."""

from typing import Final

from aiohttp import hdrs, web

from collector.console import session
from collector.console.visitor import Browser, Visitor, VisitorFinder, actor
from collector.http.auth import REQUEST_ID, address, is_secure
from collector.http.context import context_of
from collector.platform.access import Actor

_PLAIN: Final = "tocsin_session"
_MARK: Final = "tocsin_browser"
_LONGEST_MARK: Final = 200


VISITORS: web.AppKey[VisitorFinder] = web.AppKey("visitors")
VISITOR: web.RequestKey[Visitor] = web.RequestKey("visitor", Visitor)


def visitor(request: web.Request) -> Visitor:
    """Return the signed-in visitor."""
    return request[VISITOR]


def who(request: web.Request) -> Actor:
    """Return the visitor as an actor for the audit log."""
    return actor(request[VISITOR], browser(request))


def browser(request: web.Request) -> Browser:
    """Return the origin of the request."""
    agent = request.headers.get(hdrs.USER_AGENT, "").replace("\0", "")
    printable = "".join(letter for letter in agent if letter.isprintable())
    return Browser(address(request), printable, request.get(REQUEST_ID))


def cookie_name(request: web.Request) -> str:
    """Return the name, with the prefix that binds a cookie to this host, over HTTPS."""
    return f"__Host-{_PLAIN}" if is_secure(request) else _PLAIN


def cookie(request: web.Request) -> str:
    """Return the session's cookie, or an empty text."""
    return request.cookies.get(cookie_name(request), "")


def from_own_page(request: web.Request) -> bool:
    """Whether neither the origin nor the fetch metadata of the request names another site."""
    origin = request.headers.get(hdrs.ORIGIN)
    if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        return False
    return origin is None or session.same_origin(origin, request.host, context_of(request).public_url)


def signed_in(request: web.Request, answer: web.StreamResponse, value: str, seconds: int) -> None:
    """Set the cookie of a session."""
    answer.set_cookie(
        cookie_name(request),
        value,
        path="/",
        max_age=seconds,
        httponly=True,
        samesite="Lax",
        secure=is_secure(request),
    )


def known_by(request: web.Request) -> str:
    """Return the mark of a browser that signed in to some account before, or an empty text."""
    return request.cookies.get(_mark_name(request), "")[:_LONGEST_MARK]


def make_known(request: web.Request, answer: web.StreamResponse, mark: str) -> None:
    """Set the mark of a browser that signed in; an empty mark changes nothing."""
    if mark:
        answer.set_cookie(
            _mark_name(request),
            mark,
            path="/",
            max_age=int(session.KNOWN_FOR.total_seconds()),
            httponly=True,
            samesite="Lax",
            secure=is_secure(request),
        )


def _mark_name(request: web.Request) -> str:
    return f"__Host-{_MARK}" if is_secure(request) else _MARK


def signed_out(request: web.Request, answer: web.StreamResponse) -> None:
    """Delete the session's cookie."""
    answer.del_cookie(
        cookie_name(request), path="/", httponly=True, samesite="Lax", secure=is_secure(request)
    )
