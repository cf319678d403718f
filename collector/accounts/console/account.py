"""The user's own account: signed-in browsers and the password."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.accounts.console.sign_in_state import SIGN_IN
from collector.accounts.console.typed_password import new_password
from collector.accounts.service import console_sessions, password_links, sign_in, two_factor, users
from collector.console.answers import THEME, back, page, posted, value
from collector.console.display import Display
from collector.console.forms import forms, read
from collector.console.forms.fields import Form, FormField
from collector.console.state import make_known, signed_out, visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.platform import time_zones
from collector.platform.validation.validation import to_json
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


async def set_display(request: web.Request) -> web.StreamResponse:
    """Save how this user wants pages shown; the theme goes to the cookie of the switch, too."""
    mine, sent = visitor(request), read.body(Display, await posted(request))
    try:
        await users.set_display(context_of(request).db, mine.team_id, mine.user_id, sent)
    except Invalid as fault:
        return await _shown(request, {}, (sent, fault.details))
    answer = back(request, _HERE, "Saved.")
    answer.del_cookie(THEME, path="/")
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


async def _shown(
    request: web.Request,
    faults: dict[str, str],
    display: tuple[Mapping[str, Any], Mapping[str, str]] | None = None,
) -> web.StreamResponse:
    """Show the page; *faults*: of the password, *display*: what was sent of it, and its faults."""
    context, mine = context_of(request), visitor(request)
    shown, display_faults = display or (to_json(mine.display), {})
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
        status=400 if faults or display_faults else 200,
        form=Form(fields, {}),
        display=_display_form(shown, display_faults),
        two_factor=await two_factor.state(context.db, mine.team_id, mine.user_id),
        sessions=await console_sessions.of(context.db, mine, context.now()),
    )


def _display_form(shown: Mapping[str, Any], faults: Mapping[str, str]) -> Form:
    built = forms.build(Display, shown, faults)
    zones = tuple((name, name) for name in time_zones.names())
    fields = tuple(
        replace(field, options=zones) if field.name == "timezone" else field for field in built.fields
    )
    return Form(fields, built.faults)
