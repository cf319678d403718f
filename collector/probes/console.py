"""Settings: probes that serve the team, and join tokens for the team's own."""

from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.forms import forms, read
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.probes.service import join_tokens, probes
from collector.probes.service.join_tokens import NewJoinToken
from shared.errors import Invalid

_HERE: Final = "/settings/probes"


async def list_(request: web.Request) -> web.StreamResponse:
    return await _shown(request)


async def new_token(request: web.Request) -> web.StreamResponse:
    return _form(request, {}, {})


async def create_token(request: web.Request) -> web.StreamResponse:
    """Show the command with the token, once."""
    context = context_of(request)
    body = read.body(join_tokens.JoinTokenRequest, await posted(request))
    try:
        made = await join_tokens.create(context.db, context.keyring, who(request), body, context.now())
    except Invalid as fault:
        return _form(request, body, fault.details)
    return await _shown(request, made)


async def delete_token(request: web.Request) -> web.StreamResponse:
    id_ = path_id(request, "tok", join_tokens.WHAT)
    await join_tokens.delete(context_of(request).db, who(request), id_)
    return back(request, _HERE, "Token deleted.")


async def rename(request: web.Request) -> web.StreamResponse:
    body = {"name": value(await posted(request), "name").strip()}
    await probes.rename(context_of(request).db, who(request), _id(request), body)
    return back(request, _HERE, "Probe renamed.")


async def drain(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    await probes.drain(context.db, who(request), _id(request), context.now())
    return back(request, _HERE, "Draining: its monitors move to other probes of its locations.")


async def undrain(request: web.Request) -> web.StreamResponse:
    await probes.drain(context_of(request).db, who(request), _id(request), None)
    return back(request, _HERE, "Undrained: the probe takes monitors again.")


async def revoke(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    await probes.revoke(context.db, who(request), _id(request), context.now())
    context.signals.ring()
    return back(request, _HERE, "Probe revoked.")


def _id(request: web.Request) -> UUID:
    return path_id(request, "prb", probes.WHAT)


async def _shown(request: web.Request, made: NewJoinToken | None = None) -> web.StreamResponse:
    context, mine, number = context_of(request), visitor(request), common.asked(request)
    rows, total = await probes.page(context.db, mine.team_id, common.PER_PAGE, (number - 1) * common.PER_PAGE)
    return page(
        request,
        "probes.html.j2",
        probes=rows,
        at=common.at(request, number, total),
        tokens=await join_tokens.list_(context.db, mine.team_id),
        made=made,
        command=_command(context.probes_at, made),
        now=context.now(),
    )


def _command(address: str, made: NewJoinToken | None) -> str:
    return f"TOCSIN_JOIN_TOKEN={made.text} tocsin probe --collector {address}" if made else ""


def _form(request: web.Request, values: dict[str, Any], faults: dict[str, str]) -> web.StreamResponse:
    shown = {name: one for name, one in values.items() if one is not None}
    form = forms.build(join_tokens.JoinTokenRequest, shown, faults)
    return page(request, "probe_token_form.html.j2", status=400 if faults else 200, form=form)
