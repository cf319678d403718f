"""Authenticates each request under /v1: by its bearer token, or by the session of a page of our own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from aiohttp import hdrs, web
from multidict import istr

from collector.http import changes, ratelimit
from collector.http.client_address import came_by_https, client_address
from collector.http.context import CONTEXT, Context, acting
from collector.platform.access import Actor, Permission, needed_for, permits
from collector.platform.storage.db import asking
from shared import ids
from shared.errors import Forbidden, Unauthorized

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Caller:
    """*name*: the user's, as timelines show it; *plan*: the team's.

    *credential_id*: the token or console session of the request, which has a bucket and idempotency keys;
    *token_id*: the token, or the one that the session was opened with, if any.
    """

    team_id: int
    user_id: UUID
    credential_id: UUID
    token_id: UUID | None
    name: str
    plan: str
    permission: Permission

    @property
    def by_session(self) -> bool:
        """Whether the request has the session of the console in place of a token."""
        return self.credential_id != self.token_id


class FoundToken(Protocol):
    """A valid token: its *id*, its user, and what it permits."""

    @property
    def id(self) -> UUID: ...
    @property
    def team_id(self) -> int: ...
    @property
    def user_id(self) -> UUID: ...
    @property
    def user_name(self) -> str: ...
    @property
    def plan(self) -> str: ...
    @property
    def permission(self) -> Permission: ...


class TokenFinder(Protocol):
    """Finds the token of a request."""

    async def find(self, value: str, now: datetime) -> FoundToken | None:
        """Return the token with *value*, if it is valid. Raises Unavailable."""

    async def close(self) -> None:
        """Return its connection."""


REQUEST_ID: web.RequestKey[str] = web.RequestKey("request_id", str)
CALLER: web.RequestKey[Caller] = web.RequestKey("caller", Caller)
FINDER: web.AppKey[TokenFinder] = web.AppKey("finder")
# Finds the caller of a request from a page of our own, which bears X_CSRF; a text says why there is none.
SessionAuthenticator = Callable[[web.Request], Awaitable[Caller | str]]
SESSION: web.AppKey[SessionAuthenticator] = web.AppKey("session_authenticator")
X_CSRF: Final = istr("X-CSRF")
# The caller found before routing, or the error of that search.
_FOUND: web.RequestKey[Caller | Exception] = web.RequestKey("found", Caller)
_X_FORWARDED_FOR: Final = istr("X-Forwarded-For")
_X_FORWARDED_PROTO: Final = istr("X-Forwarded-Proto")
_AUTHORIZATION: Final = istr(hdrs.AUTHORIZATION)
_NOTHING_SENT: Final = "Send a token: Authorization: Bearer <token>"
_NO_GOOD: Final = "The token is invalid, expired or revoked"
# The permission of each route, by method and path; None needs no token.
NEEDS: web.AppKey[dict[tuple[str, str], Permission | None]] = web.AppKey("needs", dict)


def caller(request: web.Request) -> Caller:
    """Return the sender of this request."""
    return request[CALLER]


def actor(request: web.Request) -> Actor:
    """Return the caller as an actor for the audit log."""
    who, at = request[CALLER], address(request)
    return Actor(
        team_id=who.team_id,
        id=ids.show("usr", who.user_id),
        name=who.name,
        token_id=who.token_id,
        address=at,
        request_id=request.get(REQUEST_ID),
    )


def service_context(request: web.Request) -> Context:
    """Return the context of an action of the caller."""
    plan, who = request[CALLER].plan, actor(request)
    return acting(request, who, plan)


def address(request: web.Request) -> str:
    """Return the client's address: the peer's, or as a proxy of TOCSIN_TRUSTED_PROXIES forwards it."""
    return address_in(request.app, request)


def address_in(app: web.Application, request: web.Request) -> str:
    """The same, before *request* is routed in *app*."""
    trusted = app[CONTEXT].trusted_proxies
    forwarded = tuple(request.headers.getall(_X_FORWARDED_FOR, ())) if trusted else ()
    return client_address(request.remote or "", forwarded, trusted)


def is_secure(request: web.Request) -> bool:
    """Whether the client came by https, by TOCSIN_PUBLIC_URL for all, or by a trusted proxy's header."""
    return is_secure_in(request.app, request)


def is_secure_in(app: web.Application, request: web.BaseRequest) -> bool:
    """The same, before *request* is routed in *app*."""
    if app[CONTEXT].public_url.startswith("https:"):
        return True
    trusted = app[CONTEXT].trusted_proxies
    forwarded = request.headers.get(_X_FORWARDED_PROTO, "") if trusted else ""
    return bool(forwarded) and came_by_https(request.remote or "", forwarded, trusted)


@web.middleware
async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer 429 and 401 before all else under /v1, on any path; then 403 before the route runs."""
    app = request.app
    needed = _needed(app, request)
    if needed is None:
        if ratelimit.counts(request.path):
            await ratelimit.of_address(request, address(request))
        return await handler(request)
    who = request.get(_FOUND) or await _identify(app, request)
    if isinstance(who, Exception):
        raise who
    if isinstance(who, str):
        await ratelimit.of_address(request, address(request))
        raise Unauthorized(who)
    request[CALLER] = who
    await ratelimit.of_token(request, who.team_id, who.credential_id, who.plan)
    if not permits(who.permission, needed):
        subject = "Your role" if who.by_session else "This token"
        raise Forbidden(f"{subject} is {who.permission.value}; this needs {needed.value}")
    with asking(who.team_id):
        answer = await handler(request)
    changes.announce(request, who.team_id)
    return answer


async def turned_away(app: web.Application, request: web.Request) -> str | None:
    """Return why the request is refused; None passes it, with its caller or an error, to `guard`."""
    try:
        who = await _identify(app, request)
    except Exception as error:  # noqa: BLE001 - the guard raises it, where errors become responses
        request[_FOUND] = error
        return None
    if isinstance(who, str):
        return who
    request[_FOUND] = who
    return None


def _needed(app: web.Application, request: web.Request) -> Permission | None:
    resource = request.match_info.route.resource
    key = (request.method, resource.canonical if resource is not None else "")
    if key in app[NEEDS]:
        return app[NEEDS][key]
    return needed_for(request.method) if ratelimit.counts(request.path) else None


async def _identify(app: web.Application, request: web.Request) -> Caller | str:
    """Return the caller, or why there is none."""
    if X_CSRF in request.headers and _AUTHORIZATION not in request.headers:
        return await app[SESSION](request)
    scheme, _, value = request.headers.get(_AUTHORIZATION, "").partition(" ")
    if scheme.lower() != "bearer":
        return _NOTHING_SENT
    token = await app[FINDER].find(value.strip(), app[CONTEXT].now())
    if token is None:
        return _NO_GOOD
    return Caller(
        token.team_id, token.user_id, token.id, token.id, token.user_name, token.plan, token.permission
    )
