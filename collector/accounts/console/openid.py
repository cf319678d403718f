"""Sign-in by the operator's OpenID Connect provider: the redirect there and the callback."""

from typing import Final
from urllib.parse import quote

from aiohttp import hdrs, web

from collector.accounts.console.door import welcome
from collector.accounts.console.sign_in_state import SIGN_IN
from collector.accounts.core.openid import PATIENCE, Attempt, packed, unpacked
from collector.accounts.service import console_sessions, openid, sign_in
from collector.accounts.service.openid import Provider
from collector.accounts.storage.users import User
from collector.console import session
from collector.console.answers import page
from collector.console.language import gettext
from collector.console.state import browser
from collector.http.context import context_of
from collector.http.cookies import HostCookie
from shared import ids
from shared.errors import Forbidden, NotFound

_COOKIE: Final = HostCookie("tocsin_openid")


async def go(request: web.Request) -> web.StreamResponse:
    """Redirect to the provider; the browser keeps the attempt, against which the answer is checked."""
    provider = _provider(request)
    await request.app[SIGN_IN].door.knock(browser(request).address)
    after, user = session.safe_next(request.query.get("next")), request.query.get("user", "")
    attempt, url = await provider.begin(after, user[:64])
    answer = web.Response(status=303, headers={hdrs.LOCATION: url})
    _COOKIE.set(request, answer, packed(attempt), PATIENCE)
    return answer


async def back(request: web.Request) -> web.StreamResponse:
    """Handle the return from the provider, which may have sent any user."""
    context, attempt = context_of(request), unpacked(_COOKIE.read(request))
    await request.app[SIGN_IN].door.knock(browser(request).address)
    email = await _provider(request).end(attempt, request.query, context.now())
    if attempt is None:
        raise Forbidden("Please start again.")
    users = await openid.known(context.db, email, context.now())
    if not users:
        raise Forbidden(
            gettext(
                "No user here has the address %(email)s. An admin of your team can invite you.", email=email
            )
        )
    user = _chosen(users, attempt.user)
    if user is None:
        return await _which(request, attempt, users)
    await openid.join(context.db, user)
    cookie = await sign_in.enter(
        context.db, user, browser(request), context.now(), by=console_sessions.BY_PROVIDER
    )
    answer = welcome(request, session.safe_next(attempt.after), cookie)
    _COOKIE.delete(request, answer)
    return answer


def _provider(request: web.Request) -> Provider:
    provider = request.app[SIGN_IN].provider
    if provider is None:
        raise NotFound("No sign-in provider is configured here")
    return provider


def _chosen(users: list[User], wanted: str) -> User | None:
    if len(users) == 1:
        return users[0]
    id_ = ids.read("usr", wanted)
    return next((user for user in users if user.id == id_), None)


async def _which(request: web.Request, attempt: Attempt, users: list[User]) -> web.StreamResponse:
    """List the teams; each link leads to the provider again, where the user is signed in by now."""
    names = await sign_in.team_names(context_of(request).db, users)
    after = quote(session.safe_next(attempt.after), safe="")
    teams = [
        (f"/sign-in/oidc?next={after}&user={ids.show('usr', user.id)}", names.get(str(user.id), ""))
        for user in users
    ]
    return page(request, "which_team.html.j2", teams=teams)
