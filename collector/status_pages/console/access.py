"""How visitors enter a private status page besides its password: networks, and a sign-in provider."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from collector.console.answers import back, page, posted
from collector.console.forms import forms, read
from collector.console.forms.fields import FormField
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.status_pages.api.access import redirect_uris
from collector.status_pages.console.status_pages import filled, page_id, path
from collector.status_pages.core.access import AccessSettings
from collector.status_pages.service import access
from shared.errors import Invalid


async def edit(request: web.Request) -> web.StreamResponse:
    known = await access.read(context_of(request).db, visitor(request).team_id, page_id(request))
    return await _drawn(request, access.settable(known.access), {})


async def update(request: web.Request) -> web.StreamResponse:
    """Update the access; an empty secret keeps the stored one."""
    context, sent = context_of(request), read.body(AccessSettings, await posted(request))
    body = filled(AccessSettings, sent)
    if body.get("clientSecret") is None:
        body.pop("clientSecret", None)
    try:
        known = await access.update(
            context.db, context.keyring, who(request), page_id(request), body, context.now()
        )
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, code=400)
    return back(request, f"{path(known.page.id)}/access", "Saved.")


async def _drawn(
    request: web.Request, shown: Mapping[str, Any], faults: Mapping[str, str], *, code: int = 200
) -> web.Response:
    """Render the form; it never repeats an entered secret."""
    context = context_of(request)
    known = await access.read(context.db, visitor(request).team_id, page_id(request))
    form = forms.build(AccessSettings, {**shown, "clientSecret": None}, faults)
    kept = known.access.sealed_secret is not None
    return page(
        request,
        "status_page_access.html.j2",
        status=code,
        row=known.page,
        here=path(known.page.id),
        redirect_uris=redirect_uris(context.public_url, known),
        form=replace(form, fields=tuple(_adapted(field, kept=kept) for field in form.fields)),
    )


def _adapted(field: FormField, *, kept: bool) -> FormField:
    if field.name != "clientSecret":
        return field
    return replace(field, control="secret", help="A secret is set; leave empty to keep it." if kept else "")
