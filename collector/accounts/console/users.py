"""Settings: the team's users; an invitation link is mailed or handed over."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

from collector.accounts.service import access_mails, password_links, two_factor, users
from collector.accounts.storage.users import User
from collector.console import common
from collector.console.answers import back, page, posted
from collector.console.forms import forms, read
from collector.console.language import gettext, marked
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from shared import ids
from shared.errors import Conflict, Invalid

_HERE: Final = "/settings/users"


@dataclass(frozen=True, slots=True)
class PasswordLink:
    """A link for *user*, shown once; *mailed*: it was mailed to them; *fault*: why it was not."""

    user: User
    url: str
    what: str
    mailed: bool = False
    fault: str = ""


async def list_(request: web.Request) -> web.StreamResponse:
    return await _shown(request)


async def new(request: web.Request) -> web.StreamResponse:
    return _form(request, None, {"role": "editor"}, {})


async def invite(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    body = read.body(users.UserSettings, await posted(request))
    sent = {name: value for name, value in body.items() if value is not None}
    try:
        known = await users.invite(context.db, who(request), sent, context.now())
    except (Invalid, Conflict) as fault:
        return _form(request, None, body, _details(fault))
    return await _shown(request, await _invitation(request, known.user, known.secret or ""))


async def invite_again(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    known = await users.invite_again(context.db, who(request), _id(request), context.now())
    return await _shown(request, await _invitation(request, known.user, known.secret or ""))


async def reset(request: web.Request) -> web.StreamResponse:
    """Make a link that lets the user choose a new password."""
    context = context_of(request)
    user, secret = await password_links.make(context.db, who(request), _id(request), context.now())
    url, mailer = f"{context.public_url}/reset/{secret}", context.transport.mailer
    fault = "" if mailer is None else await access_mails.reset(mailer, user.email, visitor(request).team, url)
    link = PasswordLink(user, url, marked("a new password"), mailer is not None and not fault, fault)
    return await _shown(request, link)


async def edit(request: web.Request) -> web.StreamResponse:
    user = await users.one(context_of(request).db, visitor(request).team_id, _id(request))
    return _form(request, user, {"email": user.email, "name": user.name, "role": user.role}, {})


async def update(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    user = await users.one(context.db, visitor(request).team_id, _id(request))
    body = read.body(users.UserSettings, await posted(request))
    try:
        known = await users.update(context.db, who(request), user.id, body)
    except (Invalid, Conflict) as fault:
        return _form(request, user, body, _details(fault))
    return back(
        request,
        _HERE,
        " ".join(
            [gettext("Saved."), *(gettext("But %(warning)s.", warning=warning) for warning in known.warnings)]
        ),
    )


async def turn_two_factor_off(request: web.Request) -> web.StreamResponse:
    """Let a user who lost app and recovery codes sign in by the password alone."""
    await two_factor.reset(context_of(request).db, who(request), _id(request))
    return back(request, _HERE, "Two-factor authentication turned off: the password alone signs in.")


async def delete(request: web.Request) -> web.StreamResponse:
    await users.delete(context_of(request).db, who(request), _id(request))
    return back(request, _HERE, "User removed, with their tokens and sessions.")


def _id(request: web.Request) -> Any:
    return path_id(request, "usr", users.WHAT)


def _details(fault: Invalid | Conflict) -> Mapping[str, str]:
    return fault.details if isinstance(fault, Invalid) else {"email": str(fault)}


async def _invitation(request: web.Request, user: User, secret: str) -> PasswordLink:
    context = context_of(request)
    url, mailer = f"{context.public_url}/invitations/{secret}", context.transport.mailer
    if mailer is None:
        return PasswordLink(user, url, marked("the invitation"))
    until = user.invited_until.strftime("%d %b %Y, %H:%M UTC") if user.invited_until else ""
    fault = await access_mails.invited(
        mailer, visitor(request).team_id, user.email, visitor(request).team, url, until
    )
    return PasswordLink(user, url, marked("the invitation"), not fault, fault)


async def _shown(request: web.Request, link: PasswordLink | None = None) -> web.StreamResponse:
    context, number = context_of(request), common.asked(request)
    found, total = await users.page(
        context.db, visitor(request).team_id, common.PER_PAGE, (number - 1) * common.PER_PAGE
    )
    return page(
        request,
        "users.html.j2",
        users=found,
        with_two_factor=await two_factor.users_with(context.db, visitor(request).team_id),
        at=common.at(request, number, total),
        link=link,
        now=context.now(),
    )


def _form(
    request: web.Request, user: User | None, values: Mapping[str, Any], faults: Mapping[str, str]
) -> web.StreamResponse:
    known = {name: value for name, value in values.items() if value is not None}
    form = forms.build(users.UserSettings, known, faults)
    return page(
        request,
        "user_form.html.j2",
        status=400 if faults else 200,
        form=form,
        user=user,
        action=f"{_HERE}/{ids.show('usr', user.id)}" if user else _HERE,
    )
