"""Templates of incidents on status pages: the list, their forms, and the choice of one for a new incident."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted
from collector.console.forms import edits, forms, read
from collector.console.forms.fields import Form, FormField
from collector.console.language import current, gettext, translate
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.status_pages.console.status_pages import HERE as PAGES
from collector.status_pages.console.status_pages import filled
from collector.status_pages.core.incident_templates import (
    VARIABLES,
    IncidentTemplateSettings,
    fill,
    known_variables,
)
from collector.status_pages.core.status_page import MAINTENANCE
from collector.status_pages.service import incident_templates
from collector.status_pages.service.components import ComponentDetails
from collector.status_pages.service.incident_templates import PREFIX, WHAT
from collector.status_pages.storage.incident_templates import IncidentTemplate
from collector.status_pages.web.words import LANGUAGES
from shared import ids
from shared.errors import Conflict, Invalid

HERE: Final = f"{PAGES}/templates"
_WORDED: Final[Mapping[str, Mapping[str, Any]]] = {
    "name": {"help": "By which you choose it. Readers do not see it."},
    "title": {"example": "Problem with {component}"},
    "status": {"label": "Stage", "help": ""},
    "severity": {"help": "Templates of maintenance are offered for maintenance alone."},
    "componentStatus": {
        "label": "Component status meanwhile",
        "help": "Not set: each component shows its monitor's state.",
    },
}


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """The templates and components to choose from in the form of a new incident; *kept*: fields to keep."""

    templates: Sequence[tuple[str, str]]
    components: Sequence[tuple[str, str]]
    template: str
    component: str
    kept: Sequence[tuple[str, str]]


async def list_(request: web.Request) -> web.StreamResponse:
    """List the templates by name."""
    context, number = context_of(request), common.asked(request)
    offset = (number - 1) * common.PER_PAGE
    rows, total = await incident_templates.page(context.db, visitor(request).team_id, common.PER_PAGE, offset)
    return page(
        request,
        "incident_templates.html.j2",
        rows=rows,
        here=HERE,
        at=common.at(request, number, total),
        words=LANGUAGES[current().tag],
    )


async def new(request: web.Request) -> web.StreamResponse:
    return _form_page(request, {"status": "investigating", "severity": "minor"}, {})


async def create(request: web.Request) -> web.StreamResponse:
    context, sent = context_of(request), read.body(IncidentTemplateSettings, await posted(request))
    try:
        made = await incident_templates.create(context.db, who(request), edits.said(sent), context.now())
    except Invalid as fault:
        return _form_page(request, sent, fault.details, code=400)
    except Conflict as fault:
        return _form_page(request, sent, {"name": str(fault)}, code=409)
    return back(request, HERE, gettext("Template “%(name)s” created.", name=made.row.name))


async def edit(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    row = await incident_templates.one(context.db, visitor(request).team_id, _id(request))
    return _form_page(request, incident_templates.settable(row), {}, row.id)


async def update(request: web.Request) -> web.StreamResponse:
    context, id_ = context_of(request), _id(request)
    sent = read.body(IncidentTemplateSettings, await posted(request))
    try:
        changed = await incident_templates.update(
            context.db, who(request), id_, filled(IncidentTemplateSettings, sent), context.now()
        )
    except Invalid as fault:
        return _form_page(request, sent, fault.details, id_, code=400)
    except Conflict as fault:
        return _form_page(request, sent, {"name": str(fault)}, id_, code=409)
    return back(request, HERE, gettext("Template “%(name)s” saved.", name=changed.row.name))


async def delete(request: web.Request) -> web.StreamResponse:
    name = await incident_templates.delete(context_of(request).db, who(request), _id(request))
    return back(request, HERE, gettext("Template “%(name)s” deleted.", name=name))


async def usable(request: web.Request, *, planned: bool) -> list[IncidentTemplate]:
    """Return the templates for maintenance, or those for incidents, by name."""
    rows, _ = await incident_templates.page(
        context_of(request).db, visitor(request).team_id, incident_templates.MOST, 0
    )
    return [row for row in rows if (row.severity == MAINTENANCE) == planned]


def chosen(request: web.Request, templates: Sequence[IncidentTemplate]) -> IncidentTemplate | None:
    """Return the template in the query, if it is there."""
    id_ = ids.read(PREFIX, request.query.get("template", ""))
    return next((row for row in templates if row.id == id_), None)


def choice(
    request: web.Request,
    templates: Sequence[IncidentTemplate],
    known: Sequence[ComponentDetails],
    affected: Sequence[str],
) -> TemplateChoice | None:
    """Return what there is to choose from; None without templates. *affected*: ids of components."""
    if not templates:
        return None
    return TemplateChoice(
        [(ids.show(PREFIX, row.id), row.name) for row in templates],
        [(ids.show("comp", details.row.id), details.row.name) for details in known],
        request.query.get("template", ""),
        affected[0] if len(affected) == 1 else "",
        [(name, request.query[name]) for name in ("kind", "from") if name in request.query],
    )


def applied(template: IncidentTemplate, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of an incident, as the template fills them in."""
    return {
        "title": fill(template.title, values),
        "status": template.status,
        "severity": template.severity,
        "componentStatus": template.component_status,
        "message": fill(template.message, values),
    }


def _form_page(
    request: web.Request,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    id_: UUID | None = None,
    *,
    code: int = 200,
) -> web.Response:
    built = forms.build(IncidentTemplateSettings, shown, faults)
    return page(
        request,
        "status_page_part_form.html.j2",
        status=code,
        heading=gettext("Edit incident template") if id_ else gettext("New incident template"),
        what=gettext("Incident templates"),
        here=HERE,
        action=f"{HERE}/{ids.show(PREFIX, id_)}" if id_ else HERE,
        send=gettext("Save") if id_ else gettext("Create template"),
        form=Form(tuple(_worded(field) for field in built.fields), built.faults),
    )


def _worded(field: FormField) -> FormField:
    """The field in the wording of the public page."""
    of_page = LANGUAGES[current().tag]
    words = {str(known): label for known, label in (*of_page.shown.items(), *of_page.phases.items())}
    options = field.options
    if field.name in ("status", "componentStatus"):
        options = tuple((known, words.get(known, label)) for known, label in options)
    about = _about_variables(field.name)
    changed = {**_WORDED.get(field.name, {}), "options": options, **({"help": about} if about else {})}
    return replace(field, **changed)


def _about_variables(name: str) -> str:
    """Return the help of a field whose text may have variables; empty for others."""
    if name == "title":
        return gettext("May have variables: %(variables)s.", variables=known_variables())
    if name == "message":
        meanings = "; ".join(f"{{{variable}}}: {translate(text)}" for variable, text in VARIABLES.items())
        return gettext("Markdown, with the same variables: %(meanings)s.", meanings=meanings)
    return ""


def _id(request: web.Request) -> UUID:
    return path_id(request, PREFIX, WHAT)
