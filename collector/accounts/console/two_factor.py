"""Settings: the user's second factor and its recovery codes."""

from datetime import datetime
from functools import partial
from typing import Final, Protocol
from uuid import UUID

from aiohttp import web
from markupsafe import Markup

from collector.accounts.console.sign_in_state import SIGN_IN
from collector.accounts.core.webauthn import RelyingParty
from collector.accounts.service import passkeys, two_factor, users
from collector.console import session
from collector.console.answers import back, page, posted, value
from collector.console.state import browser, visitor, who
from collector.http.context import context_of
from collector.platform.access import Actor
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from shared.errors import Conflict, Forbidden, Invalid

HERE: Final = "/settings/account/two-factor"


class ChangeByCode(Protocol):
    """A change that takes a code; returns the new recovery codes, if any. Raises Invalid, Conflict."""

    async def __call__(
        self, db: Db, keyring: Keyring, who: Actor, user_id: UUID, typed: str, now: datetime, /
    ) -> list[str]: ...


async def show(request: web.Request) -> web.StreamResponse:
    return await shown(request)


async def begin(request: web.Request) -> web.StreamResponse:
    """Make a secret, which the next page shows."""
    context, mine = context_of(request), visitor(request)
    _demand_own_session(request)
    if await two_factor.is_on(context.db, mine.team_id, mine.user_id):
        demand_fresh(request)
    try:
        await two_factor.begin(context.db, context.keyring, who(request), mine.user_id, context.now())
    except Conflict as error:
        return back(request, HERE, f"{error}.", tone="warn")
    return back(request, HERE)


async def confirm(request: web.Request) -> web.StreamResponse:
    """Turn it on by the first code, and show the recovery codes once."""
    session_id = visitor(request).session_id
    return await _with_code(request, partial(two_factor.confirm, session_id=session_id))


async def renew_codes(request: web.Request) -> web.StreamResponse:
    """Replace the recovery codes, and show the new ones once."""
    return await _with_code(request, two_factor.renew_codes)


async def turn_off(request: web.Request) -> web.StreamResponse:
    return await _with_code(request, two_factor.turn_off)


async def _with_code(request: web.Request, change: ChangeByCode) -> web.StreamResponse:
    """Change the second factor by a typed code. Raises Limited, Forbidden."""
    context, mine = context_of(request), visitor(request)
    _demand_own_session(request)
    await request.app[SIGN_IN].door.knock_with_code(mine.user_id)
    code = value(await posted(request), "code")
    try:
        codes = await change(context.db, context.keyring, who(request), mine.user_id, code, context.now())
    except Invalid as fault:
        return await shown(request, fault=fault.details["code"])
    except Conflict as error:
        return back(request, HERE, f"{error}.", tone="warn")
    if not codes:
        return back(request, "/settings/account", "Authenticator app turned off.")
    return await shown(request, codes=codes)


def _demand_own_session(request: web.Request) -> None:
    if visitor(request).token_id is not None:
        raise Forbidden("Sign in with your password to change this.")


def demand_fresh(request: web.Request) -> None:
    """Demand a session of this user's own that began a short while ago. Raises Forbidden."""
    _demand_own_session(request)
    if not session.is_fresh(visitor(request).ends_at, context_of(request).now()):
        raise Forbidden("Sign in again to change how you sign in.")


async def shown(request: web.Request, *, fault: str = "", codes: list[str] | None = None) -> web.Response:
    """Show the second factors; *fault*: of a typed code, *codes*: recovery codes that were just made."""
    context, mine = context_of(request), visitor(request)
    state = await two_factor.state(context.db, mine.team_id, mine.user_id)
    secret = None
    if state.app_since is None and mine.token_id is None:
        user = await users.one(context.db, mine.team_id, mine.user_id)
        secret = await two_factor.pending(context.db, context.keyring, user)
    return page(
        request,
        "two_factor.html.j2",
        status=400 if fault else 200,
        state=state,
        secret=secret,
        qr=_qr(secret.uri) if secret else None,
        fault=fault,
        codes=codes or [],
        most=two_factor.RECOVERY_CODES,
        site=RelyingParty.of(context.public_url),
        fresh=session.is_fresh(mine.ends_at, context.now()),
        device=browser(request).agent,
        longest_name=passkeys.LONGEST_NAME,
    )


def _qr(text: str) -> Markup:
    """Return a QR code as an inline drawing; a light ground in dark pages too, since cameras need it."""
    import segno  # noqa: PLC0415 - for a page that a user opens once

    drawing = segno.make(text, error="m", micro=False).svg_inline(
        scale=5, border=3, dark="#000", light="#fff", svgclass="qr", lineclass=None, omitsize=False
    )
    return Markup(drawing)  # noqa: S704 - drawn here, of squares alone
