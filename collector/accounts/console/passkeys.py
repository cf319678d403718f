"""Passkeys in the browser: added and removed by their user, and answering at the sign-in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import orjson
import structlog
from aiohttp import web

from collector.accounts.console import door
from collector.accounts.console.sign_in_state import SIGN_IN
from collector.accounts.console.two_factor import HERE, demand_fresh, shown
from collector.accounts.core import webauthn
from collector.accounts.core.webauthn import PasskeyAssertion, PasskeyFault, RelyingParty
from collector.accounts.service import console_sessions, passkeys, two_factor, users
from collector.accounts.service.passkeys import PasskeyAttempt, PasskeyRefusal, Purpose, Registration
from collector.accounts.service.two_factor import SecondStep, SignInTicket
from collector.console import session
from collector.console.answers import back, posted, value
from collector.console.forms.read import Posted
from collector.console.language import gettext
from collector.console.state import browser, signed_out, visitor, who
from collector.http.auth import is_secure
from collector.http.context import context_of
from collector.http.request_data import path_id
from shared.errors import Conflict, Invalid, NotFound

log = structlog.get_logger()

# A browser keeps its attempt here, so that no other browser can answer it.
_COOKIE: Final = "tocsin_passkey"
_TOO_LATE: Final = "That took too long. Please try again."
_FAULTS: Final[Mapping[str, str]] = {
    PasskeyFault.UNREADABLE: "The browser's answer cannot be read.",
    PasskeyFault.UNKNOWN: "This passkey is not known here. It may have been removed.",
    PasskeyFault.OTHER_CHALLENGE: "The answer belongs to another request. Please try again.",
    PasskeyFault.OTHER_SITE: "The answer was made for another site.",
    PasskeyFault.ABSENT: "The authenticator did not see anybody.",
    PasskeyFault.UNVERIFIED: "The authenticator did not verify who used it: "
    "it needs a PIN, a fingerprint or a face.",
    PasskeyFault.BAD_KEY: "The authenticator's key is of a kind that is not supported here.",
    PasskeyFault.BAD_SIGNATURE: "The signature is not that of this passkey.",
    PasskeyFault.OLD_COUNTER: "The passkey's counter went back, as that of a copy would. "
    "Use another way to sign in.",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What an authenticator is asked; bytes in base64url, *patience* in milliseconds.

    *known*: credentials, of which one shall answer, or which shall not be registered again. Those that follow
    are for a registration alone.
    """

    challenge: str
    site: str
    patience: int
    known: tuple[str, ...] = ()
    handle: str = ""
    email: str = ""
    name: str = ""
    algorithms: tuple[int, ...] = ()


async def ask_for_new(request: web.Request) -> web.StreamResponse:
    """POST: return the question for a new passkey. Raises Forbidden unless the session is fresh."""
    context, mine, site = context_of(request), visitor(request), _site(request)
    demand_fresh(request)
    attempt = passkeys.begin(Purpose.REGISTRATION, str(mine.session_id), context.now())
    user = await users.one(context.db, mine.team_id, mine.user_id)
    known = await passkeys.of_user(context.db, mine.team_id, mine.user_id)
    question = Question(
        challenge=webauthn.encoded(attempt.challenge),
        site=site.id,
        patience=int(passkeys.PATIENCE.total_seconds() * 1000),
        known=tuple(webauthn.encoded(passkey.credential_id) for passkey in known),
        handle=webauthn.encoded(passkeys.user_handle(user.team_id, user.id)),
        email=user.email,
        name=user.name,
        algorithms=webauthn.ALGORITHMS,
    )
    return _asked(request, question, attempt)


async def add(request: web.Request) -> web.StreamResponse:
    """POST: keep the passkey that answers, and show recovery codes if it is the first second factor."""
    context, mine, sent = context_of(request), visitor(request), await posted(request)
    demand_fresh(request)
    attempt = _kept(request, Purpose.REGISTRATION, str(mine.session_id))
    if attempt is None:
        return back(request, HERE, _TOO_LATE, tone="warn")
    new = Registration(
        value(sent, "name"), _bytes(sent, "client"), _bytes(sent, "authenticator"), _bytes(sent, "key")
    )
    try:
        codes = await passkeys.add(
            context.db,
            _site(request),
            who(request),
            mine.user_id,
            attempt,
            new,
            context.now(),
            session_id=mine.session_id,
        )
    except Invalid as fault:
        refused = fault.details.get("passkey")
        text = _FAULTS[refused] if refused else gettext("The name %(fault)s.", fault=fault.details["name"])
        return back(request, HERE, text, tone="bad")
    except Conflict as error:
        return back(request, HERE, f"{error}.", tone="warn")
    if not codes:
        return back(request, HERE, "Passkey added.")
    return await shown(request, codes=codes)


async def remove(request: web.Request) -> web.StreamResponse:
    mine, id_ = visitor(request), path_id(request, passkeys.PREFIX, passkeys.WHAT)
    demand_fresh(request)
    try:
        name = await passkeys.remove(context_of(request).db, who(request), mine.user_id, id_)
    except Conflict as error:
        return back(request, HERE, f"{error}.", tone="warn")
    return back(request, HERE, gettext("Passkey “%(name)s” removed.", name=name))


async def sign_in_again(request: web.Request) -> web.StreamResponse:
    """POST: end this session and lead back after a new sign-in, since only a fresh session may go on."""
    mine = visitor(request)
    await console_sessions.end(context_of(request).db, who(request), mine.user_id, mine.session_id)
    answer = back(request, f"/sign-in?next={HERE}")
    signed_out(request, answer)
    return answer


async def ask_at_sign_in(request: web.Request) -> web.StreamResponse:
    """POST: return the question of a sign-in; with ``ticket`` that of its second step."""
    context, site = context_of(request), _site(request)
    await request.app[SIGN_IN].door.knock(browser(request).address)
    text = value(await posted(request), "ticket")
    ticket = two_factor.read_ticket(context.keyring, text, context.now())
    if text and ticket is None:
        return web.Response(status=410)
    known = await passkeys.of_user(context.db, ticket.team_id, ticket.user_id) if ticket else []
    attempt = passkeys.begin(*_purpose(ticket), context.now())
    question = Question(
        challenge=webauthn.encoded(attempt.challenge),
        site=site.id,
        patience=int(passkeys.PATIENCE.total_seconds() * 1000),
        known=tuple(webauthn.encoded(passkey.credential_id) for passkey in known),
    )
    return _asked(request, question, attempt)


async def sign_in(request: web.Request) -> web.StreamResponse:
    """POST: sign in the user whose passkey answers; with ``ticket`` as the second step. Raises Limited."""
    context, sent, from_ = context_of(request), await posted(request), browser(request)
    text = value(sent, "ticket")
    ticket = two_factor.read_ticket(context.keyring, text, context.now())
    attempt = _kept(request, *_purpose(ticket))
    if attempt is None or (text and ticket is None):
        return back(request, "/sign-in", _TOO_LATE, tone="warn")
    limits = request.app[SIGN_IN].door
    await (limits.knock_with_code(ticket.user_id) if ticket else limits.knock(from_.address))
    answer = PasskeyAssertion(
        _bytes(sent, "credential"),
        _bytes(sent, "client"),
        _bytes(sent, "authenticator"),
        _bytes(sent, "signature"),
        _bytes(sent, "handle"),
    )
    proof = await passkeys.prove(context.db, _site(request), attempt, answer, from_, context.now())
    if isinstance(proof, PasskeyRefusal):
        log.info("sign-in refused", address=from_.address, step="passkey", reason=proof.fault.value)
        if ticket:
            return await door.ask_for_code(request, ticket, text, _FAULTS[proof.fault], status=403)
        return back(request, "/sign-in", _FAULTS[proof.fault], tone="bad")
    after = ticket.after if ticket else session.safe_next(value(sent, "next"))
    return await door.admitted(request, proof, after, by=SecondStep.PASSKEY if ticket else "passkey")


def _purpose(ticket: SignInTicket | None) -> tuple[Purpose, str]:
    """Return what a challenge is for, and the user it is bound to."""
    if ticket is None:
        return Purpose.SIGN_IN, ""
    return Purpose.SECOND_STEP, passkeys.user_handle(ticket.team_id, ticket.user_id).hex()


def _site(request: web.Request) -> RelyingParty:
    site = RelyingParty.of(context_of(request).public_url)
    if site is None:
        raise NotFound("Passkeys need the console at a host name over HTTPS")
    return site


def _asked(request: web.Request, question: Question, attempt: PasskeyAttempt) -> web.Response:
    answer = web.Response(body=orjson.dumps(question), content_type="application/json")
    answer.set_cookie(
        _name(request),
        attempt.sealed(context_of(request).keyring),
        path="/",
        max_age=int(passkeys.PATIENCE.total_seconds()),
        httponly=True,
        samesite="Strict",
        secure=is_secure(request),
    )
    return answer


def _kept(request: web.Request, purpose: Purpose, bound: str) -> PasskeyAttempt | None:
    context = context_of(request)
    return passkeys.resume(
        context.keyring, request.cookies.get(_name(request), ""), purpose, bound, context.now()
    )


def _bytes(sent: Posted, name: str) -> bytes:
    return webauthn.decoded(value(sent, name))


def _name(request: web.Request) -> str:
    return f"__Host-{_COOKIE}" if is_secure(request) else _COOKIE
