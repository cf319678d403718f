"""The incidents and maintenance of a status page, with all their updates."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.forms import edits, forms, read
from collector.console.forms.fields import Form, FormField
from collector.console.language import current, gettext
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.status_pages.api.parts import part_id
from collector.status_pages.console import incident_templates, publishing
from collector.status_pages.console.status_pages import filled, page_id, path
from collector.status_pages.core.fields import PageIncidentSettings
from collector.status_pages.core.status_page import MAINTENANCE, RESOLVED
from collector.status_pages.service import components, incidents, notifications, status_pages
from collector.status_pages.service.components import ComponentDetails
from collector.status_pages.service.incidents import WHAT, PageIncidentDetails
from collector.status_pages.storage.incidents import PageIncidentFilter
from collector.status_pages.storage.status_pages import StatusPage
from collector.status_pages.web.words import LANGUAGES
from shared import ids
from shared.errors import Invalid

_MOMENTS: Final = ("scheduledStart", "scheduledEnd")
_PLANNED: Final = (*_MOMENTS, "reminderMinutes")
# Scheduled maintenance sets the components' status while it lasts; a status here would apply at once.
_MEANWHILE: Final = ("severity", "componentStatus")
_MOMENT: Final = "With an offset, such as 2030-01-31 22:00Z or 2030-01-31 23:00+01:00."
_WORDED: Final[Mapping[str, Mapping[str, Any]]] = {
    "status": {"label": "Stage", "help": ""},
    "severity": {"help": ""},
    "componentStatus": {
        "label": "Component status meanwhile",
        "help": "Not set: each component shows its monitor's state.",
    },
    "message": {
        "help": "Markdown: **bold**, lists, [links](https://example.com). Subscribers receive it too."
    },
    "scheduledStart": {"label": "Begins", "help": _MOMENT},
    "scheduledEnd": {"label": "Ends", "help": _MOMENT},
    "reminderMinutes": {
        "label": "Remind subscribers",
        "unit": "minutes before it begins",
        "help": "Once. Left empty, they are not reminded.",
    },
}


async def list_(request: web.Request) -> web.StreamResponse:
    """List the incidents, newest first."""
    context, team_id, number = context_of(request), visitor(request).team_id, common.asked(request)
    row = await _page(request)
    offset = (number - 1) * common.PER_PAGE
    rows, total = await incidents.page(
        context.db, team_id, row.id, PageIncidentFilter(), common.PER_PAGE, offset
    )
    return page(
        request,
        "status_page_incidents.html.j2",
        row=row,
        here=path(row.id),
        rows=rows,
        at=common.at(request, number, total),
        words=LANGUAGES[current().tag],
    )


async def new(request: web.Request) -> web.StreamResponse:
    """The form for an incident or, with ``?kind=maintenance``, for maintenance.

    ``from`` is the team's incident that fills it in, ``text`` the phase of its text; ``template`` fills it in
    instead, and ``component`` is affected.
    """
    row, planned = await _page(request), request.query.get("kind") == MAINTENANCE
    return await _new(request, row, await _prefilled(request, row, planned=planned), {}, planned=planned)


async def publish(request: web.Request) -> web.StreamResponse:
    context, row, form = context_of(request), await _page(request), await posted(request)
    planned = value(form, "kind") == MAINTENANCE
    sent = read.body(PageIncidentSettings, form)
    body = {**edits.said(sent), **({"severity": MAINTENANCE} if planned else {})}
    try:
        details = await incidents.publish(context.db, who(request), row.id, body, context.now())
    except Invalid as fault:
        return await _new(request, row, sent, fault.details, planned=planned, code=400)
    return back(request, _path(details), "Published. Subscribers are notified.")


async def show(request: web.Request) -> web.StreamResponse:
    details = await _known(request)
    return await _shown(request, details, _settable(details), {})


async def update(request: web.Request) -> web.StreamResponse:
    return await _publish_update(request, {}, "Published. Subscribers are notified.")


async def resolve(request: web.Request) -> web.StreamResponse:
    """Resolve the incident with the message in the form."""
    return await _publish_update(
        request, {"status": RESOLVED}, gettext("Resolved. Its components show their monitors' state again.")
    )


async def delete(request: web.Request) -> web.StreamResponse:
    context, (id_, incident) = context_of(request), _part(request)
    await incidents.delete(context.db, who(request), id_, incident, context.now())
    return back(request, f"{path(id_)}/incidents", "Deleted from the page.")


async def _publish_update(request: web.Request, more: Mapping[str, Any], flash: str) -> web.StreamResponse:
    context, details = context_of(request), await _known(request)
    sent = {**read.body(PageIncidentSettings, await posted(request)), **more}
    row = details.row
    try:
        after = await incidents.update(
            context.db, who(request), row.page_id, row.id, filled(PageIncidentSettings, sent), context.now()
        )
    except Invalid as fault:
        return await _shown(request, details, sent, fault.details, code=400)
    return back(request, _path(after), flash)


async def _new(
    request: web.Request,
    row: StatusPage,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    *,
    planned: bool,
    code: int = 200,
) -> web.Response:
    seen = await _components(request, row.id)
    return page(
        request,
        "status_page_part_form.html.j2",
        status=code,
        heading=gettext("Schedule maintenance") if planned else gettext("Report incident"),
        what=row.name,
        here=path(row.id),
        action=f"{path(row.id)}/incidents",
        send=gettext("Publish"),
        kind=MAINTENANCE if planned else "",
        texts=_texts(request, shown) if request.query.get("from") and not _has_template(request) else [],
        choice=incident_templates.choice(
            request,
            await incident_templates.usable(request, planned=planned),
            seen,
            shown.get("affectedComponents") or (),
        ),
        form=await _form(request, row.id, shown, faults, planned=planned, seen=seen),
    )


def _has_template(request: web.Request) -> bool:
    return bool(request.query.get("template"))


def _texts(request: web.Request, shown: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Label and address of each text to begin with, and whether it is the present one."""
    return [
        (
            LANGUAGES[current().tag].phases[phase],
            str(request.rel_url.update_query(text=phase)),
            phase == shown.get("status"),
        )
        for phase in publishing.TEXTS
    ]


async def _prefilled(request: web.Request, row: StatusPage, *, planned: bool) -> dict[str, Any]:
    """Return the fields that the query fills in: by a template, or by the team's incident."""
    now, incident = context_of(request).now(), await publishing.incident_of(request, "from")
    template = incident_templates.chosen(request, await incident_templates.usable(request, planned=planned))
    known = await _components(request, row.id)
    about = publishing.subject(incident, known, request.query.getall("component", []))
    affected = {"affectedComponents": about.component_ids}
    if template is not None:
        return {**incident_templates.applied(template, about.variables(row.name, now)), **affected}
    if incident is None:
        return affected
    return {**publishing.prefilled(incident, about, request.query.get("text"), now), **affected}


async def _shown(
    request: web.Request,
    details: PageIncidentDetails,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    *,
    code: int = 200,
) -> web.Response:
    planned = details.row.severity == MAINTENANCE
    seen = await _components(request, details.row.page_id)
    names = {component_details.row.id: component_details.row.name for component_details in seen}
    return page(
        request,
        "status_page_incident.html.j2",
        status=code,
        incident=details,
        here=_path(details),
        page_path=path(details.row.page_id),
        names=[names[id_] for id_ in details.row.components if id_ in names],
        phases=LANGUAGES[current().tag].planned_phases if planned else LANGUAGES[current().tag].phases,
        form=await _form(request, details.row.page_id, shown, faults, planned=planned, seen=seen),
    )


async def _form(
    request: web.Request,
    page_: UUID,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    *,
    planned: bool,
    seen: list[ComponentDetails] | None = None,
) -> Form:
    known = seen if seen is not None else await _components(request, page_)
    options = [(ids.show("comp", details.row.id), details.row.name) for details in known]
    form = forms.build(
        PageIncidentSettings,
        shown,
        faults,
        leave_out=_MEANWHILE if planned else _PLANNED,
        options={"affectedComponents": options},
    )
    return replace(form, fields=tuple(_worded(field, planned=planned) for field in form.fields))


def _worded(field: FormField, *, planned: bool) -> FormField:
    """The field in the wording of the public page."""
    phases = LANGUAGES[current().tag].planned_phases if planned else LANGUAGES[current().tag].phases
    words = {str(known): label for known, label in (*LANGUAGES[current().tag].shown.items(), *phases.items())}
    if field.name == "severity":
        field = replace(field, options=tuple(pair for pair in field.options if pair[0] != MAINTENANCE))
    options = field.options
    if field.name in ("status", "componentStatus"):
        options = tuple((known, words.get(known, label)) for known, label in options)
    return replace(field, **{**_WORDED.get(field.name, {}), "options": options})


async def _components(request: web.Request, page_: UUID) -> list[ComponentDetails]:
    context = context_of(request)
    return await components.all_(context.db, visitor(request).team_id, page_, context.now())


def _settable(details: PageIncidentDetails) -> dict[str, Any]:
    """The values of the form: an empty message, and timestamps in a readable format."""
    shown = notifications.settable(details.row)
    times = {name: _written(shown[name]) for name in _MOMENTS if shown[name] is not None}
    return {**shown, **times, "message": None}


def _written(moment: str) -> str:
    """``2030-01-31 22:00:00Z``, the same time to the millisecond."""
    return moment.replace("T", " ").replace(".000Z", "Z")


def _part(request: web.Request) -> tuple[UUID, UUID]:
    return part_id(request, "spi", "incidentId", WHAT)


async def _page(request: web.Request) -> StatusPage:
    """The page in the path. Raises NotFound."""
    return await status_pages.existing(context_of(request).db, visitor(request).team_id, page_id(request))


async def _known(request: web.Request) -> PageIncidentDetails:
    """The incident in the path. Raises NotFound."""
    id_, incident = _part(request)
    return await incidents.one(context_of(request).db, visitor(request).team_id, id_, incident)


def _path(details: PageIncidentDetails) -> str:
    return f"{path(details.row.page_id)}/incidents/{ids.show('spi', details.row.id)}"
