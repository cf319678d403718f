"""From a team's incident to a status page: which page, and a text to begin with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from collector.status_pages.core.incident_templates import fill
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
    "investigating": "We are investigating a problem with {component}, which began at {began}. "
    "We will post an update as soon as we know more.",
    "identified": "We know the cause of the problem with {component}, which began at {began}, "
    "and are working on a fix.",
    "monitoring": "A fix for the problem with {component} is in place. We are watching whether it holds.",
    "resolved": "The problem with {component} is resolved. It began at {began} and lasted {lasted}.",
}


@dataclass(frozen=True, slots=True)
class PageSubject:
    """What a page's incident is about: the affected components, and the team's incident behind it, if any."""

    components: Sequence[ComponentDetails]
    incident: Incident | None

    @property
    def name(self) -> str:
        return ", ".join(details.row.name for details in self.components) or "our service"

    @property
    def component_ids(self) -> list[str]:
        return [ids.show("comp", details.row.id) for details in self.components]

    def variables(self, page_name: str, now: datetime) -> dict[str, str]:
        """Return what stands for the variables of a template; without an incident it begins now."""
        began = self.incident.started_at if self.incident else now
        return {
            "component": self.name,
            "page": page_name,
            "began": f"{began:%d %b %H:%M} UTC",
            "lasted": span(incidents.lasted_s(self.incident, now)) if self.incident else "…",
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


def subject(
    incident: Incident | None, known: Sequence[ComponentDetails], asked: Sequence[str]
) -> PageSubject:
    """Return the subject, with the components *asked* for, or else those of the incident's monitor."""
    named = [details for details in known if ids.show("comp", details.row.id) in asked]
    shows = [
        details
        for details in known
        if incident is not None
        and details.row.monitor_id is not None
        and details.row.monitor_id == incident.monitor_id
    ]
    return PageSubject(named or shows, incident)


def prefilled(incident: Incident, about: PageSubject, phase: str | None, now: datetime) -> dict[str, Any]:
    """Return the fields of a page's incident about *incident*; *phase*: that of the text, if it is one."""
    chosen = next((each for each in TEXTS if each == phase), _PHASES[incident.status])
    values = about.variables("", now)
    return {
        "title": f"Problem with {about.name}",
        "status": chosen,
        "severity": _SEVERITIES[incident.severity],
        "message": fill(TEXTS[chosen], values),
    }


def _form_of(page_id: UUID, incident_id: UUID) -> str:
    return f"{path(page_id)}/incidents/new?from={ids.show('inc', incident_id)}"
