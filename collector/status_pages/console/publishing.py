"""From a team's incident to a status page: which page, and a text to begin with."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.console.answers import back, page
from collector.console.render import span
from collector.console.state import visitor
from collector.http.context import context_of
from collector.incidents.core.status import IncidentStatus
from collector.incidents.service import incidents
from collector.incidents.storage.reads import Incident
from collector.platform.monitor import Severity
from collector.status_pages.console.status_pages import path
from collector.status_pages.core.status_page import Phase
from collector.status_pages.service import status_pages
from collector.status_pages.service.components import ComponentDetails
from shared import ids

# Pages to choose from; a team with more publishes from the page itself.
_PAGES: Final = 100
_SEVERITIES: Final[Mapping[Severity, str]] = {
    "critical": "critical",
    "high": "major",
    "medium": "minor",
    "low": "minor",
}
_PHASES: Final[Mapping[IncidentStatus, Phase]] = {
    IncidentStatus.OPEN: "investigating",
    IncidentStatus.ACKNOWLEDGED: "identified",
    IncidentStatus.RESOLVED: "resolved",
}
# No text has the monitor's name or what a check saw: these are for the team alone.
TEXTS: Final[Mapping[Phase, str]] = {
    "investigating": "We are investigating a problem with {subject}, which began at {began}. "
    "We will post an update as soon as we know more.",
    "identified": "We know the cause of the problem with {subject}, which began at {began}, "
    "and are working on a fix.",
    "monitoring": "A fix for the problem with {subject} is in place. We are watching whether it holds.",
    "resolved": "The problem with {subject} is resolved. It began at {began} and lasted {lasted}.",
}


async def choose(request: web.Request) -> web.StreamResponse:
    """Choose the page on which the incident of the query is published; of a single page, go to its form."""
    context, team_id = context_of(request), visitor(request).team_id
    incident = await incident_of(request, "incident")
    if incident is None:
        return back(request, "/incidents", "Choose the incident to publish.", tone="warn")
    pages, _ = await status_pages.page(context.db, team_id, _PAGES, 0)
    if len(pages) == 1:
        return back(request, _form_of(pages[0].page.id, incident.id))
    return page(
        request,
        "status_page_choice.html.j2",
        incident=incident,
        here=f"/incidents/{ids.show('inc', incident.id)}",
        pages=[(known.page, _form_of(known.page.id, incident.id)) for known in pages],
    )


async def incident_of(request: web.Request, name: str) -> Incident | None:
    """Return the team's incident in the query's field *name*, None without one. Raises NotFound."""
    id_ = ids.read("inc", request.query.get(name, ""))
    if id_ is None:
        return None
    incident, _ = await incidents.one(context_of(request).db, visitor(request).team_id, id_)
    return incident


def prefilled(
    incident: Incident, components: Sequence[ComponentDetails], phase: str | None, now: datetime
) -> dict[str, Any]:
    """Return the fields of a page's incident about *incident*; *phase*: that of the text, if it is one.

    The components that show the incident's monitor are affected.
    """
    known = [
        details.row
        for details in components
        if details.row.monitor_id is not None and details.row.monitor_id == incident.monitor_id
    ]
    subject = ", ".join(row.name for row in known) or "our service"
    chosen = next((each for each in TEXTS if each == phase), _PHASES[incident.status])
    return {
        "title": f"Problem with {subject}",
        "status": chosen,
        "severity": _SEVERITIES[incident.severity],
        "affectedComponents": [ids.show("comp", row.id) for row in known],
        "message": TEXTS[chosen].format(
            subject=subject,
            began=f"{incident.started_at:%d %b %H:%M} UTC",
            lasted=span(incidents.lasted_s(incident, now)),
        ),
    }


def _form_of(page_id: UUID, incident_id: UUID) -> str:
    return f"{path(page_id)}/incidents/new?from={ids.show('inc', incident_id)}"
