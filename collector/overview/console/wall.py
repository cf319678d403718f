"""The wall: a screen without controls that shows a team, and the links that need no session."""

from aiohttp import web

from collector.console.answers import back, page, posted
from collector.console.forms import forms, read
from collector.console.forms.fields import Form
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.overview.console import verdicts
from collector.overview.console.overview import tab_icon, tab_mark
from collector.overview.service import overview, wall, wall_links
from collector.overview.service.wall_links import NewWallLink
from collector.platform.storage.db import asking
from shared.errors import Invalid

_HERE = "/settings/walls"


async def own(request: web.Request) -> web.StreamResponse:
    """Show the visitor's own team."""
    return await _shown(request, visitor(request).team_id)


async def linked(request: web.Request) -> web.StreamResponse:
    """Show the team of the link: whoever has it may see this page, and nothing else."""
    context = context_of(request)
    link = await wall_links.find(context.db, request.match_info["secret"], context.now())
    with asking(link.team_id):
        return await _shown(request, link.team_id)


async def _shown(request: web.Request, team_id: int) -> web.StreamResponse:
    context = context_of(request)
    now = context.now()
    seen = await wall.read(context.db, team_id, now)
    return page(
        request,
        "wall.html.j2",
        seen=seen,
        verdict=verdicts.text(seen.verdict),
        now=now,
        states=overview.STATES,
        tab_mark=tab_mark(seen.states.get("down", 0)),
        tab_icon=tab_icon(seen.verdict),
    )


async def links(request: web.Request) -> web.StreamResponse:
    return await _listed(request, _form({}, {}))


async def create(request: web.Request) -> web.StreamResponse:
    """Create a link; only this page shows it."""
    context = context_of(request)
    body = read.body(wall_links.WallLinkRequest, await posted(request))
    try:
        made = await wall_links.create(context.db, who(request), body, context.now())
    except Invalid as fault:
        return await _listed(request, _form(body, fault.details), status=400)
    return await _listed(request, _form({}, {}), made)


async def end(request: web.Request) -> web.StreamResponse:
    await wall_links.end(context_of(request).db, who(request), path_id(request, "wall", wall_links.WHAT))
    return back(request, _HERE, "Link ended.")


async def _listed(
    request: web.Request, form: Form, made: NewWallLink | None = None, status: int = 200
) -> web.StreamResponse:
    context = context_of(request)
    return page(
        request,
        "walls.html.j2",
        status=status,
        links=await wall_links.all_(context.db, visitor(request).team_id),
        made=made,
        form=form,
        public_url=context.public_url,
        now=context.now(),
    )


def _form(values: dict[str, object], faults: dict[str, str]) -> Form:
    return forms.build(wall_links.WallLinkRequest, {"expiresIn": "never", **values}, faults)
