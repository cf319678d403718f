"""Settings: API tokens, created here and shown once."""

from typing import Final

from aiohttp import web

from collector.accounts.service import tokens, users
from collector.accounts.service.tokens import NewToken
from collector.console import common
from collector.console.answers import back, page, posted
from collector.console.forms import forms, read
from collector.console.forms.fields import Form
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from shared import ids
from shared.errors import Invalid

_HERE: Final = "/settings/tokens"
_NEW: Final = {"permission": "read-only", "expiresIn": "90d"}


async def list_(request: web.Request) -> web.StreamResponse:
    return await _shown(request)


async def new(request: web.Request) -> web.StreamResponse:
    return page(request, "token_form.html.j2", form=await _form(request, {}, {}))


async def create(request: web.Request) -> web.StreamResponse:
    """Create a token; only this page shows its value."""
    context = context_of(request)
    body = read.body(tokens.TokenRequest, await posted(request))
    try:
        made = await tokens.create(context.db, who(request), visitor(request).user_id, body, context.now())
    except Invalid as fault:
        form = await _form(request, body, fault.details)
        return page(request, "token_form.html.j2", status=400, form=form)
    return await _shown(request, made)


async def revoke(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    await tokens.revoke(context.db, who(request), path_id(request, "tok", tokens.WHAT), context.now())
    return back(request, _HERE, "Token revoked.")


async def _shown(request: web.Request, made: NewToken | None = None) -> web.StreamResponse:
    number = common.asked(request)
    offset = (number - 1) * common.PER_PAGE
    listed_tokens, total = await tokens.page(
        context_of(request).db, visitor(request).team_id, common.PER_PAGE, offset
    )
    return page(
        request,
        "tokens.html.j2",
        tokens=listed_tokens,
        at=common.at(request, number, total),
        made=made,
        public_url=context_of(request).public_url,
        now=context_of(request).now(),
    )


async def _form(request: web.Request, values: dict[str, object], faults: dict[str, str]) -> Form:
    mine = visitor(request)
    people, _ = await users.page(context_of(request).db, mine.team_id, None, 0)
    others = [
        (ids.show("usr", person.id), f"{person.name} ({person.role})")
        for person in people
        if person.id != mine.user_id
    ]
    return forms.build(tokens.TokenRequest, {**_NEW, **values}, faults, options={"userId": others})
