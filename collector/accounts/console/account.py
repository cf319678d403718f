"""The user's own account: signed-in browsers and the password."""

from typing import Final
from uuid import UUID

from aiohttp import web

from collector.accounts.console.sign_in_state import SIGN_IN
from collector.accounts.console.typed_password import new_password
from collector.accounts.service import console_sessions, password_links, sign_in, two_factor, users
from collector.console.answers import back, page, posted, value
from collector.console.forms.fields import Form, FormField
from collector.console.state import make_known, signed_out, visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from shared.errors import Forbidden, Invalid

_HERE: Final = "/settings/account"
_FIELDS: Final = (
    ("old", "Current password", "current-password"),
    ("password", "New password", "new-password"),
    ("again", "Confirm new password", "new-password"),
)


async def show(request: web.Request) -> web.StreamResponse:
    return await _shown(request, {})


async def set_password(request: web.Request) -> web.StreamResponse:
    mine, sent, context = visitor(request), await posted(request), context_of(request)
    if mine.token_id is not None:
        raise Forbidden("Sign in with your password, or with a reset link, to change it.")
    await request.app[SIGN_IN].door.knock_inside(mine.user_id)
    try:
        await password_links.change(
            context.db,
            who(request),
            mine.user_id,
            value(sent, "old"),
            new_password(sent),
            mine.session_id,
        )
    except Invalid as fault:
        return await _shown(request, fault.details)
    answer = back(request, _HERE, "Password changed. Your other browsers were signed out.")
    make_known(request, answer, await sign_in.mark(context.db, mine.team_id, mine.user_id))
    return answer


async def end(request: web.Request) -> web.StreamResponse:
    """Sign one browser out, which may be this one."""
    mine = visitor(request)
    id_: UUID = path_id(request, "ses", console_sessions.WHAT)
    await console_sessions.end(context_of(request).db, who(request), mine.user_id, id_)
    if id_ != mine.session_id:
        return back(request, _HERE, "Browser signed out.")
    answer = back(request, "/sign-in", "You are signed out.")
    signed_out(request, answer)
    return answer


async def _shown(request: web.Request, faults: dict[str, str]) -> web.StreamResponse:
    context, mine = context_of(request), visitor(request)
    fields = tuple(
        FormField(
            name=name,
            label=label,
            control="secret",
            required=True,
            shortest=None if name == "old" else users.SHORTEST_PASSWORD,
            longest=users.LONGEST_PASSWORD,
            repeats="password" if name == "again" else "",
            autocomplete=autocomplete,
            fault=faults.get(name, ""),
        )
        for name, label, autocomplete in _FIELDS
    )
    return page(
        request,
        "account.html.j2",
        status=400 if faults else 200,
        form=Form(fields, {}),
        two_factor=await two_factor.state(context.db, mine.team_id, mine.user_id),
        sessions=await console_sessions.of(context.db, mine, context.now()),
    )
