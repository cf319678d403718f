"""The visitor of a request, and the cookies of the console."""

from typing import Final

from aiohttp import hdrs, web

from collector.console import session
from collector.console.visitor import Browser, Visitor, VisitorFinder, actor
from collector.http.auth import REQUEST_ID, address
from collector.http.context import context_of
from collector.http.cookies import HostCookie
from collector.platform.access import Actor

_SESSION: Final = HostCookie("tocsin_session")
_MARK: Final = HostCookie("tocsin_browser")
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


def cookie(request: web.Request) -> str:
    """Return the session's cookie, or an empty text."""
    return _SESSION.read(request)


def from_own_page(request: web.Request) -> bool:
    """Whether neither the origin nor the fetch metadata of the request names another site."""
    origin = request.headers.get(hdrs.ORIGIN)
    if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        return False
    return origin is None or session.same_origin(origin, request.host, context_of(request).public_url)


def signed_in(request: web.Request, answer: web.StreamResponse, value: str) -> None:
    """Set the cookie of a session."""
    _SESSION.set(request, answer, value, session.LIFE)


def known_by(request: web.Request) -> str:
    """Return the mark of a browser that signed in to some account before, or an empty text."""
    return _MARK.read(request)[:_LONGEST_MARK]


def make_known(request: web.Request, answer: web.StreamResponse, mark: str) -> None:
    """Set the mark of a browser that signed in; an empty mark changes nothing."""
    if mark:
        _MARK.set(request, answer, mark, session.KNOWN_FOR)


def signed_out(request: web.Request, answer: web.StreamResponse) -> None:
    """Delete the session's cookie."""
    _SESSION.delete(request, answer)
