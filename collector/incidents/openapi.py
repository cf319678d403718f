"""Incidents: opened by monitors or by hand, acknowledged, resolved, annotated."""

from collector.http.openapi.models import answer, request
from collector.http.openapi.parts import (
    PAGED,
    SPAN,
    Operation,
    choice,
    id_,
    page,
    query,
)
from collector.incidents import answers
from collector.incidents.core.fields import Changes, NewIncident, NewNote, ReopenRequest, Resolution, Snooze
from collector.incidents.core.stats import Period
from collector.incidents.core.status import IncidentStatus

TAG = "Incidents"
_STATUS = choice(*IncidentStatus)
_SEVERITY = choice("critical", "high", "medium", "low")
INCIDENT = answer(answers.IncidentAnswer, "Incident")
_CONFLICT = {409: "It is not in a state that allows this"}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/incidents": Operation(
        summary="List incidents, newest first",
        answer=page(INCIDENT),
        query=(
            query("status", _STATUS, "Only those with this status"),
            query("severity", _SEVERITY, "Only those as severe"),
            query("monitor_id", id_("mon"), "Only those of this monitor"),
            *SPAN,
            *PAGED,
        ),
    ),
    "POST /v1/incidents": Operation(
        summary="Create an incident by hand",
        status=201,
        answer=answer(answers.CreatedIncident, "CreatedIncident"),
        body=request(NewIncident, "CreateIncidentRequest"),
        example={"title": "Checkout is slow", "severity": "high"},
    ),
    "GET /v1/incidents/stats": Operation(
        summary="Incident statistics",
        answer=answer(answers.IncidentStats, "IncidentStats"),
        query=(*SPAN, query("group_by", choice(*Period), "The length of a group")),
    ),
    "GET /v1/incidents/{id}": Operation(
        summary="Read an incident with its notes", answer=answer(answers.IncidentDetails, "IncidentDetails")
    ),
    "PUT /v1/incidents/{id}": Operation(
        summary="Update title, description or severity",
        answer=INCIDENT,
        body=request(Changes, "UpdateIncidentRequest", partial=True),
        example={"severity": "low"},
        needs_body=False,
    ),
    "POST /v1/incidents/{id}/acknowledge": Operation(
        summary="Acknowledge an incident",
        answer=answer(answers.AcknowledgedIncident, "AcknowledgedIncident"),
        more=_CONFLICT,
    ),
    "DELETE /v1/incidents/{id}/acknowledge": Operation(
        summary="Withdraw the acknowledgement of an incident", answer=INCIDENT, more=_CONFLICT
    ),
    "POST /v1/incidents/{id}/snooze": Operation(
        summary="Snooze reminders and escalation of an open incident",
        answer=INCIDENT,
        body=request(Snooze, "SnoozeIncidentRequest"),
        example={"duration": 3600},
        more=_CONFLICT,
    ),
    "DELETE /v1/incidents/{id}/snooze": Operation(
        summary="End the snooze of an incident", answer=INCIDENT, more=_CONFLICT
    ),
    "POST /v1/incidents/{id}/resolve": Operation(
        summary="Resolve an incident",
        answer=answer(answers.ResolvedIncident, "ResolvedIncident"),
        body=request(Resolution, "ResolveIncidentRequest"),
        example={"resolutionNote": "Restarted it"},
        needs_body=False,
        more=_CONFLICT,
    ),
    "POST /v1/incidents/{id}/reopen": Operation(
        summary="Reopen a resolved incident",
        answer=answer(answers.ReopenedIncident, "ReopenedIncident"),
        body=request(ReopenRequest, "ReopenIncidentRequest"),
        example={"reason": "It is back"},
        needs_body=False,
        more=_CONFLICT,
    ),
    "POST /v1/incidents/{id}/notes": Operation(
        summary="Add a note",
        status=201,
        answer=answer(answers.CreatedNote, "CreatedIncidentNote"),
        body=request(NewNote, "CreateIncidentNoteRequest"),
        example={"text": "Looking into it"},
    ),
    "GET /v1/incidents/{id}/evidence": Operation(
        summary="Evidence of the checks that confirmed the outage",
        answer=answer(answers.IncidentEvidence, "IncidentEvidence"),
    ),
    "GET /v1/incidents/{id}/postmortem": Operation(
        summary="Export a post-mortem as Markdown, from timeline, results and notes",
        media="text/markdown",
        answer={"type": "string"},
    ),
    "GET /v1/incidents/{id}/timeline": Operation(
        summary="The incident's timeline, in order",
        answer=answer(answers.IncidentTimeline, "IncidentTimeline"),
    ),
}
