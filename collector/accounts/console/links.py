"""Pages behind one-time links: invitation, password reset, first set-up. No log holds their secrets."""

import asyncio
from collections.abc import Mapping
from typing import Any

import structlog
from aiohttp import web

from collector.accounts.console.door import admit
from collector.accounts.console.sign_in_state import SIGN_IN
from collector.accounts.console.typed_password import new_password
from collector.accounts.service import access_mails, password_links, users
from collector.accounts.storage.password_links import LinkKind
from collector.accounts.storage.users import User
from collector.console.answers import page, posted, value
from collector.console.forms.fields import Form, FormField
from collector.console.language import gettext, marked, translate
from collector.console.state import browser
from collector.http.context import Context, context_of
from collector.notifications.service import outside_mails
from collector.notifications.storage.mail_addresses import UnconfirmedAddress
from collector.platform.fields import is_email
from collector.platform.mailer import Mailer
from shared.errors import Invalid

log = structlog.get_logger()


async def invited(request: web.Request) -> web.StreamResponse:
    """Show whose invitation it is; only the form uses it up, since mail scanners follow links."""
    context = context_of(request)
    user = await password_links.invited(context.db, request.match_info["secret"], context.now())
    return _form(request, "Join the team", user.email)


async def join(request: web.Request) -> web.StreamResponse:
    context, secret = context_of(request), request.match_info["secret"]
    await _knock(request)
    user = await password_links.invited(context.db, secret, context.now())
    try:
        password = new_password(await posted(request))
        user = await users.accept(context.db, secret, password, context.now())
    except Invalid as fault:
        return _form(request, "Join the team", user.email, fault.details)
    return await _enter(request, user, "invitation")


async def asked(request: web.Request) -> web.StreamResponse:
    """Ask whether an address outside a team wants its mails; only the button confirms."""
    return _asked(request, await outside_mails.linked(context_of(request).db, request.match_info["secret"]))


async def confirm(request: web.Request) -> web.StreamResponse:
    await _knock(request)
    return _asked(
        request, await outside_mails.confirm(context_of(request).db, request.match_info["secret"]), done=True
    )


async def reset(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    secret = request.match_info["secret"]
    linked = await password_links.find(context.db, LinkKind.RESET, secret, context.now())
    return _form(request, "Choose a new password", linked.email)


async def set_password(request: web.Request) -> web.StreamResponse:
    return await _used(request, LinkKind.RESET, "Choose a new password", "reset link")


async def set_up(request: web.Request) -> web.StreamResponse:
    """Show the first page of a new console: the first admin's name, address and password."""
    context = context_of(request)
    secret = request.match_info["secret"]
    linked = await password_links.find(context.db, LinkKind.FIRST, secret, context.now())
    # The placeholder address of a new team is nobody's.
    email = "" if linked.email.endswith("@localhost") else linked.email
    return _form(request, "Set up Tocsin", linked.email, named={"name": "", "email": email})


async def take_over(request: web.Request) -> web.StreamResponse:
    sent = await posted(request)
    named = {"name": value(sent, "name").strip(), "email": value(sent, "email").strip()}
    return await _used(request, LinkKind.FIRST, "Set up Tocsin", "setup link", named)


async def forgot(request: web.Request) -> web.StreamResponse:
    return page(request, "forgot.html.j2", asked="")


async def ask(request: web.Request) -> web.StreamResponse:
    """Answer in the same way and time whether or not a user has the address.

    No account's bucket is charged: a stranger could empty it, and each account gets few mails anyway.
    """
    context, email = context_of(request), value(await posted(request), "email").strip()
    await _knock(request)
    if context.transport.mailer is not None and is_email(email):
        mails = request.app[SIGN_IN].mails
        task = asyncio.create_task(_mail(context, context.transport.mailer, email), name="reset mail")
        mails.add(task)
        task.add_done_callback(mails.discard)
    return page(request, "forgot.html.j2", asked=email)


async def _mail(context: Context, mailer: Mailer, email: str) -> None:
    """Mail the links; only the mailbox reveals whether the account exists."""
    try:
        for recipient in await password_links.ask(context.db, email, context.now()):
            url = f"{context.public_url}/reset/{recipient.secret}"
            fault = await access_mails.reset(mailer, recipient.user.email, recipient.team, url)
            if fault:
                log.warning("password reset mail not sent", reason=fault)
    except Exception:
        log.exception("password reset mail not sent")


async def _used(
    request: web.Request, kind: LinkKind, title: str, by: str, named: Mapping[str, Any] | None = None
) -> web.StreamResponse:
    context, secret = context_of(request), request.match_info["secret"]
    await _knock(request)
    linked = await password_links.find(context.db, kind, secret, context.now())
    try:
        password = new_password(await posted(request))
        user = await password_links.use(context.db, kind, secret, password, context.now(), named)
    except Invalid as fault:
        return _form(request, title, linked.email, fault.details, named)
    return await _enter(request, user, by)


async def _enter(request: web.Request, user: User, by: str) -> web.StreamResponse:
    return await admit(request, user, "/", by=by)


async def _knock(request: web.Request) -> None:
    await request.app[SIGN_IN].door.knock(browser(request).address)


def _asked(request: web.Request, unconfirmed: UnconfirmedAddress, *, done: bool = False) -> web.Response:
    heading = gettext("Confirmed") if done else gettext("Receive these emails?")
    return page(
        request,
        "confirm.html.j2",
        heading=heading,
        address=unconfirmed.address,
        team=unconfirmed.team_name,
        done=done,
    )


def _form(
    request: web.Request,
    title: str,
    email: str,
    faults: Mapping[str, str] | None = None,
    named: Mapping[str, Any] | None = None,
) -> web.Response:
    faults, heading = faults or {}, translate(title)
    shortest = gettext("At least %(count)s characters.", count=users.SHORTEST_PASSWORD)
    fields = [
        FormField(
            name=name,
            label=label,
            control="text",
            value=str(named[name]),
            required=True,
            longest=254,
            autocomplete=autocomplete,
            fault=faults.get(name, ""),
        )
        for name, label, autocomplete in (
            ("name", marked("Your name"), "name"),
            ("email", "Email address", "username"),
        )
        if named is not None
    ]
    fields += [
        FormField(
            name=name,
            label=label,
            control="secret",
            required=True,
            shortest=users.SHORTEST_PASSWORD,
            longest=users.LONGEST_PASSWORD,
            repeats="password" if name == "again" else "",
            autocomplete="new-password",
            help=help_,
            fault=faults.get(name, ""),
        )
        for name, label, help_ in (
            ("password", "Password", shortest),
            ("again", marked("Confirm password"), ""),
        )
    ]
    known = {field.name for field in fields}
    form = Form(tuple(fields), {name: fault for name, fault in faults.items() if name not in known})
    return page(
        request, "link.html.j2", status=400 if faults else 200, heading=heading, email=email, form=form,
        named=named is not None,
    )  # fmt: skip
