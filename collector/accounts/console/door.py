"""Sign-in to the console by password, with a second step if the user has one, or by API token; sign-out."""

from typing import Final

import structlog
from aiohttp import hdrs, web

from collector.accounts.console.sign_in_state import SIGN_IN
from collector.accounts.core.webauthn import RelyingParty
from collector.accounts.service import console_sessions, sign_in, two_factor, users
from collector.accounts.service.two_factor import SignInTicket
from collector.accounts.storage.users import User
from collector.console import session
from collector.console.answers import back, page, posted, value
from collector.console.forms.read import Posted
from collector.console.language import gettext, translate
from collector.console.render import Flash
from collector.console.state import (
    VISITOR,
    browser,
    known_by,
    make_known,
    signed_in,
    signed_out,
    visitor,
    who,
)
from collector.http.context import context_of
from collector.platform.access import Actor
from shared import ids
from shared.errors import Limited

log = structlog.get_logger()

_WRONG: Final = "Wrong email address or password."
_WRONG_CODE: Final = "Wrong code, or it was used already. The app shows a new code every 30 seconds."
_NO_TOKEN: Final = "The token is invalid, expired or revoked."  # noqa: S105 - an error text


async def show(request: web.Request) -> web.StreamResponse:
    after = session.safe_next(request.query.get("next"))
    if VISITOR in request:
        return back(request, after)
    context = context_of(request)
    ready = request.app[SIGN_IN].provider is not None or await sign_in.is_set_up(context.db)
    return _form(request, after, ready=ready)


async def enter(request: web.Request) -> web.StreamResponse:
    """POST: ``email`` and ``password``, and ``user`` if one address is in several teams; or ``token``."""
    sent, door = await posted(request), request.app[SIGN_IN].door
    after, from_ = session.safe_next(value(sent, "next")), browser(request)
    token, email = value(sent, "token").strip(), value(sent, "email").strip()
    try:
        await door.knock(from_.address, None if token else email, known_by(request))
    except Limited as error:
        return _wait(_form(request, after, _too_many(error), status=429, email=email), error)
    if token:
        return await _by_token(request, token, after)
    users = await door.with_password(email, value(sent, "password"))
    if not users:
        log.info("sign-in refused", address=from_.address)
        return _form(request, after, _WRONG, status=403, email=email)
    user = _chosen(users, sent)
    if user is None:
        return await _which(request, after, email, users)
    return await admit(request, user, after, by="password")


async def admit(request: web.Request, user: User, after: str, *, by: str) -> web.Response:
    """Sign in *user*, whose first step was *by*; with a second factor, ask for its code first."""
    context = context_of(request)
    if await two_factor.is_on(context.db, user.team_id, user.id):
        ticket = SignInTicket(user.team_id, user.id, after)
        return await ask_for_code(
            request, ticket, two_factor.ticket(context.keyring, user, after, context.now())
        )
    return await admitted(request, user, after, by=by)


async def admitted(request: web.Request, user: User, after: str, *, by: str) -> web.Response:
    """Open the session of *user*, who has passed every step."""
    context = context_of(request)
    cookie = await sign_in.enter(context.db, user, browser(request), context.now(), by=by)
    return welcome(request, after, cookie, await sign_in.mark(context.db, user.team_id, user.id))


async def ask_for_code(
    request: web.Request, ticket: SignInTicket, text: str, fault: str = "", status: int = 200
) -> web.Response:
    """Show the form of the second step; *text*: the ticket as the browser keeps it."""
    context = context_of(request)
    shown = (Flash("bad", translate(fault)),) if fault else ()
    return page(
        request,
        "second_step.html.j2",
        status=status,
        said=shown,
        ticket=text,
        state=await two_factor.state(context.db, ticket.team_id, ticket.user_id),
        site=RelyingParty.of(context.public_url),
    )


async def second_step(request: web.Request) -> web.StreamResponse:
    """POST: ``ticket`` of the first step, and ``code`` of the app or a recovery code."""
    sent, context, door = await posted(request), context_of(request), request.app[SIGN_IN].door
    ticket = two_factor.read_ticket(context.keyring, value(sent, "ticket"), context.now())
    if ticket is None:
        return back(request, "/sign-in", "That took too long. Please sign in again.", tone="warn")
    try:
        await door.knock_with_code(ticket.user_id)
    except Limited as error:
        return _wait(
            await ask_for_code(request, ticket, value(sent, "ticket"), _too_many(error), status=429), error
        )
    user, from_ = await users.one(context.db, ticket.team_id, ticket.user_id), browser(request)
    actor = Actor(
        user.team_id,
        ids.show("usr", user.id),
        user.name,
        address=from_.address,
        request_id=from_.request_id,
    )
    proof = await two_factor.prove(
        context.db, context.keyring, user, actor, value(sent, "code"), context.now()
    )
    if proof is None:
        log.info("sign-in refused", address=from_.address, step="code")
        return await ask_for_code(request, ticket, value(sent, "ticket"), _WRONG_CODE, status=403)
    return await admitted(request, user, ticket.after, by=proof.value)


async def leave(request: web.Request) -> web.StreamResponse:
    context, mine = context_of(request), visitor(request)
    await console_sessions.end(context.db, who(request), mine.user_id, mine.session_id)
    return _gone(request, "You are signed out.")


async def leave_everywhere(request: web.Request) -> web.StreamResponse:
    await console_sessions.end_all(context_of(request).db, who(request), visitor(request).user_id)
    return _gone(request, "You are signed out everywhere.")


def welcome(request: web.Request, after: str, cookie: str, mark: str = "") -> web.Response:
    """Redirect with the cookie of a new session, and a mark that identifies the browser later."""
    answer = back(request, after)
    signed_in(request, answer, cookie)
    make_known(request, answer, mark)
    return answer


async def _by_token(request: web.Request, token: str, after: str) -> web.Response:
    context = context_of(request)
    cookie = await sign_in.enter_by_token(context.db, token, browser(request), context.now())
    if cookie is None:
        log.info("sign-in refused", address=browser(request).address)
        return _form(request, after, _NO_TOKEN, status=403, by_token=True)
    return welcome(request, after, cookie)


def _too_many(error: Limited) -> str:
    return gettext("Too many attempts. Please wait %(seconds)s s.", seconds=error.retry_after)


def _wait(answer: web.Response, error: Limited) -> web.Response:
    answer.headers[hdrs.RETRY_AFTER] = str(error.retry_after)
    return answer


def _chosen(users: list[User], sent: Posted) -> User | None:
    """Return the only user, or the one of the chosen team."""
    if len(users) == 1:
        return users[0]
    wanted = ids.read("usr", value(sent, "user"))
    return next((user for user in users if user.id == wanted), None)


async def _which(request: web.Request, after: str, email: str, users: list[User]) -> web.Response:
    names = await sign_in.team_names(context_of(request).db, users)
    teams = [(ids.show("usr", user.id), names.get(str(user.id), "")) for user in users]
    return _form(request, after, "", email=email, teams=teams)


def _form(
    request: web.Request,
    after: str,
    fault: str = "",
    *,
    status: int = 200,
    email: str = "",
    by_token: bool = False,
    teams: list[tuple[str, str]] | None = None,
    ready: bool = True,
) -> web.Response:
    said = (Flash("bad", translate(fault)),) if fault else ()
    provider = request.app[SIGN_IN].provider
    return page(
        request,
        "sign_in.html.j2",
        status=status,
        said=said,
        after=after,
        email=email,
        by_token=by_token,
        ready=ready,
        teams=teams or [],
        mail=context_of(request).transport.mailer is not None,
        provider=provider.client.name if provider else "",
        site=RelyingParty.of(context_of(request).public_url),
    )


def _gone(request: web.Request, text: str) -> web.Response:
    answer = back(request, "/sign-in", text)
    signed_out(request, answer)
    return answer
