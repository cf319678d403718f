"""The components of a status page: create, update, override the status, reorder, delete."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.console.answers import back, page, posted, value
from collector.console.forms import edits, forms, read
from collector.console.forms.fields import FormField
from collector.console.forms.read import Posted
from collector.console.language import current, gettext
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.monitors.console import pickers
from collector.status_pages.api.parts import part_id
from collector.status_pages.console.status_pages import filled, page_id, path
from collector.status_pages.core.fields import ComponentSettings
from collector.status_pages.core.order import moved, moved_group
from collector.status_pages.service import components, status_pages
from collector.status_pages.service.components import WHAT, ComponentDetails
from collector.status_pages.web.words import LANGUAGES
from shared import ids
from shared.errors import Conflict, Invalid, NotFound

# By position in the list, and by whether a status is set by hand.
_LEFT_OUT: Final = frozenset({"order", "statusMode"})
_NONE: Final[Mapping[str, str]] = {"monitorId": "No monitor", "status": "Automatic, from its monitor"}
_SAID: Final[Mapping[str, Mapping[str, Any]]] = {
    "group": {"help": "Components of a group are shown together under its name."},
    "monitorId": {"label": "Monitor", "help": "Its state becomes the component's status."},
    "status": {"label": "Set status by hand"},
    "statusMessage": {"help": "Shown beside the status."},
    "essential": {
        "label": "Essential",
        "help": "Its outage alone is a major outage of the page. Without it, only the outage of all is.",
    },
    "showUptime": {"label": "Show uptime", "help": "With the bars of its last 90 days."},
}


async def new(request: web.Request) -> web.StreamResponse:
    row = await status_pages.existing(context_of(request).db, visitor(request).team_id, page_id(request))
    return await _drawn(request, row.id, {}, {})


async def create(request: web.Request) -> web.StreamResponse:
    context, id_ = context_of(request), page_id(request)
    form = await posted(request)
    sent = read.body(ComponentSettings, form)
    if pickers.asked(form):
        return await _drawn(request, id_, sent, {})
    try:
        await components.add(context.db, who(request), id_, edits.said(sent), context.now())
    except Invalid as fault:
        return await _drawn(request, id_, sent, fault.details, code=400)
    except Conflict as fault:
        return await _drawn(request, id_, sent, {"page": str(fault)}, code=409)
    return back(request, path(id_), "Component added.")


async def edit(request: web.Request) -> web.StreamResponse:
    seen = await _known(request)
    shown = {**components.settable(seen.row), "status": seen.row.held}
    return await _drawn(request, seen.row.page_id, shown, {}, seen)


async def update(request: web.Request) -> web.StreamResponse:
    """Update the component; without a status it follows its monitor again."""
    context, seen, form = context_of(request), await _known(request), await posted(request)
    row, sent = seen.row, read.body(ComponentSettings, form)
    if pickers.asked(form):
        return await _drawn(request, row.page_id, sent, {}, seen)
    try:
        await components.update(
            context.db, who(request), row.page_id, row.id, _body(sent, form), context.now()
        )
    except Invalid as fault:
        return await _drawn(request, row.page_id, sent, fault.details, seen, code=400)
    return back(request, path(row.page_id), "Saved.")


async def delete(request: web.Request) -> web.StreamResponse:
    context, (id_, component) = context_of(request), _part(request)
    await components.delete(context.db, who(request), id_, component, context.now())
    return back(request, path(id_), "Component removed.")


async def up(request: web.Request) -> web.StreamResponse:
    return await _move(request, -1)


async def down(request: web.Request) -> web.StreamResponse:
    return await _move(request, 1)


async def place(request: web.Request) -> web.StreamResponse:
    """Move a component, or its whole group, before another one, or to the end. Raises NotFound."""
    context, id_, form = context_of(request), page_id(request), await posted(request)
    now = context.now()
    seen = await components.all_(context.db, who(request).team_id, id_, now)
    item, before = ids.read("comp", value(form, "item")), ids.read("comp", value(form, "before"))
    if item is None or (before is None and value(form, "before")):
        raise NotFound(f"{WHAT} not found")
    try:
        if value(form, "group"):
            named = [(details.row.id, details.row.group_name or "") for details in seen]
            order = moved_group(named, item, before)
        else:
            order = moved([details.row.id for details in seen], item, before)
    except ValueError:
        raise NotFound(f"{WHAT} not found") from None
    body = {"components": [ids.show("comp", component) for component in order]}
    await components.arrange(context.db, who(request), id_, body, now)
    return back(request, path(id_))


async def _move(request: web.Request, by: int) -> web.StreamResponse:
    """Swap the component with its neighbour; the first cannot move up, the last cannot move down."""
    context, seen = context_of(request), await _known(request)
    page_, now = seen.row.page_id, context.now()
    order = [
        details.row.id for details in await components.all_(context.db, who(request).team_id, page_, now)
    ]
    at = order.index(seen.row.id)
    to = min(max(at + by, 0), len(order) - 1)
    order[at], order[to] = order[to], order[at]
    body = {"components": [ids.show("comp", id_) for id_ in order]}
    await components.arrange(context.db, who(request), page_, body, now)
    return back(request, path(page_))


async def _drawn(
    request: web.Request,
    page_: UUID,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    seen: ComponentDetails | None = None,
    *,
    code: int = 200,
) -> web.Response:
    chosen = [shown["monitorId"]] if shown.get("monitorId") else []
    choice = await pickers.monitors(request, chosen)
    options = {"monitorId": choice.options}
    form = choice.put(
        forms.build(ComponentSettings, shown, faults, leave_out=_LEFT_OUT, options=options), "monitorId"
    )
    row = await status_pages.existing(context_of(request).db, visitor(request).team_id, page_)
    here = path(page_)
    return page(
        request,
        "status_page_part_form.html.j2",
        status=code,
        heading=seen.row.name if seen else gettext("New component"),
        what=row.name,
        here=here,
        action=f"{here}/components/{ids.show('comp', seen.row.id)}" if seen else f"{here}/components",
        send=gettext("Save") if seen else gettext("Add component"),
        form=replace(form, fields=tuple(_worded(field) for field in form.fields)),
    )


def _worded(field: FormField) -> FormField:
    """The field in the wording of the public page."""
    words = {
        "": _NONE.get(field.name, ""),
        **{str(known): label for known, label in LANGUAGES[current().tag].shown.items()},
    }
    options = tuple((known, words.get(known) or label) for known, label in field.options)
    return replace(field, **{**_SAID.get(field.name, {}), "options": options})


def _body(sent: Mapping[str, Any], form: Posted) -> dict[str, Any]:
    """The body as the API expects it: fields that the form lacks stay unchanged."""
    body = filled(ComponentSettings, sent)
    if "status" not in form:
        return body
    return {**body, "statusMode": "manual" if sent.get("status") else "auto"}


def _part(request: web.Request) -> tuple[UUID, UUID]:
    return part_id(request, "comp", "componentId", WHAT)


async def _known(request: web.Request) -> ComponentDetails:
    """The component in the path. Raises NotFound."""
    context, (id_, component) = context_of(request), _part(request)
    return await components.one(context.db, visitor(request).team_id, id_, component, context.now())
