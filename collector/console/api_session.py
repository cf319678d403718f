"""The API's caller of a request that a page of our own sends with the visitor's session.

A cookie alone authenticates no request under /v1: the page's form token must come with it, in a header that
no other site can send.
"""

from typing import Final

from aiohttp import hdrs, web

from collector.console import session
from collector.console.state import VISITORS, cookie, from_own_page
from collector.console.visitor import Visitor
from collector.http.auth import X_CSRF, Caller
from collector.http.context import context_of
from shared.errors import Forbidden

_SAFE: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})
_NOT_OURS: Final = "The request is not from a page of this session: send a token, or reload the page"
_ENDED: Final = "Your session has ended: sign in again"
_SECOND_FACTOR: Final = "Your team requires two-factor authentication: set it up in the console"


async def authenticate(request: web.Request) -> Caller | str:
    """Return the caller, or why there is none. Raises Forbidden without a required second factor."""
    shown = cookie(request)
    # Browsers name the origin of every request that changes something.
    named = request.method in _SAFE or hdrs.ORIGIN in request.headers
    if not (shown and named and from_own_page(request) and session.fits(shown, request.headers[X_CSRF])):
        return _NOT_OURS
    visitor = await request.app[VISITORS].find(shown, context_of(request).now())
    if visitor is None:
        return _ENDED
    if visitor.lacks_second_factor:
        raise Forbidden(_SECOND_FACTOR)
    return caller(visitor)


def caller(visitor: Visitor) -> Caller:
    """Return the visitor as a caller of the API, with the permission of the session."""
    return Caller(
        visitor.team_id,
        visitor.user_id,
        visitor.session_id,
        visitor.token_id,
        visitor.name,
        visitor.plan,
        visitor.permission,
    )
