"""Incidents: raised by monitors or by hand, worked on, told of; and the stream of events."""

from collector.http.openapi.models import Schema, request
from collector.http.openapi.parts import (
    PAGED,
    SPAN,
    Operation,
    choice,
    day,
    free,
    id_,
    many,
    maybe,
    moment,
    number,
    page,
    plus,
    query,
    record,
    ref,
    text,
    warned,
    whole,
)
from collector.incidents.core.fields import Changes, NewIncident, NewNote, ReopenRequest, Resolution

TAG = "Incidents"
_STATUS = choice("open", "acknowledged", "resolved")
_SEVERITY = choice("critical", "high", "medium", "low")
_PERSON = record(id=maybe(id_("usr")), name=text("Admin"))
_NOTE = {"id": id_("note"), "incidentId": id_("inc"), "text": text("Looking into it"), "createdAt": moment()}
_INCIDENT = record(
    ("parentIncidentId",),
    parentIncidentId=maybe(id_("inc")),
    id=id_("inc"),
    title=text("shop is down"),
    description=text(""),
    monitorId=maybe(id_("mon")),
    monitorName=maybe(text()),
    status=_STATUS,
    severity=_SEVERITY,
    startedAt=moment(),
    createdAt=moment(),
    acknowledgedAt=maybe(moment()),
    acknowledgedBy=maybe(_PERSON),
    resolvedAt=maybe(moment()),
    resolvedBy=maybe(_PERSON),
    resolutionNote=maybe(text("Restarted it")),
    reopenedAt=maybe(moment()),
    downtime=whole(332),
    downtimeFormatted=text("5m 32s"),
    failureCount=whole(3),
    lastError=maybe(text("answered 500")),
)
SCHEMAS: dict[str, Schema] = {
    "Incident": _INCIDENT,
    "IncidentWithNotes": plus(_INCIDENT, notes=many(record(**_NOTE, createdBy=text("Admin")))),
}
_GROUPED = many(record(date=day(), incidents=whole(2), avgDowntime=number(332)))
_CONFLICT = {409: "It is not in a state that allows this"}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/incidents": Operation(
        summary="List incidents, newest first",
        answer=page(ref("Incident")),
        query=(
            query("status", _STATUS, "Only those with this status"),
            query("severity", _SEVERITY, "Only those as severe"),
            query("monitor_id", id_("mon"), "Only those of this monitor"),
            *SPAN,
            *PAGED,
        ),
    ),
    "POST /v1/incidents": Operation(
        summary="Raise an incident by hand",
        status=201,
        answer=warned(
            record(id=id_("inc"), title=text(), status=_STATUS, severity=_SEVERITY, createdAt=moment())
        ),
        body=request(NewIncident, "CreateIncidentRequest"),
        example={"title": "Checkout is slow", "severity": "high"},
    ),
    "GET /v1/incidents/stats": Operation(
        summary="How many, and how long",
        answer=record(
            ("byDay", "byWeek", "byMonth"),
            totalIncidents=whole(2),
            openIncidents=whole(0),
            mttr=number(332),
            mtta=number(41),
            avgDowntime=number(332),
            bySeverity=record(critical=whole(2), high=whole(0), medium=whole(0), low=whole(0)),
            byDay=_GROUPED,
            byWeek=_GROUPED,
            byMonth=_GROUPED,
        ),
        query=(*SPAN, query("group_by", choice("day", "week", "month"), "The length of a group")),
    ),
    "GET /v1/incidents/{id}": Operation(
        summary="Read an incident with its notes", answer=ref("IncidentWithNotes")
    ),
    "PUT /v1/incidents/{id}": Operation(
        summary="Change title, description or severity",
        answer=warned(_INCIDENT),
        body=request(Changes, "UpdateIncidentRequest", partial=True),
        example={"severity": "low"},
        needs_body=False,
    ),
    "POST /v1/incidents/{id}/acknowledge": Operation(
        summary="Acknowledge: somebody works on it",
        answer=record(id=id_("inc"), status=_STATUS, acknowledgedAt=moment(), acknowledgedBy=_PERSON),
        more=_CONFLICT,
    ),
    "POST /v1/incidents/{id}/resolve": Operation(
        summary="Resolve",
        answer=warned(
            record(
                id=id_("inc"),
                status=_STATUS,
                resolvedAt=moment(),
                resolvedBy=_PERSON,
                downtime=whole(332),
                resolutionNote=maybe(text("Restarted it")),
            )
        ),
        body=request(Resolution, "ResolveIncidentRequest"),
        example={"resolutionNote": "Restarted it"},
        needs_body=False,
        more=_CONFLICT,
    ),
    "POST /v1/incidents/{id}/reopen": Operation(
        summary="Reopen a resolved one",
        answer=warned(record(id=id_("inc"), status=_STATUS, reopenedAt=moment())),
        body=request(ReopenRequest, "ReopenIncidentRequest"),
        example={"reason": "It is back"},
        needs_body=False,
        more=_CONFLICT,
    ),
    "POST /v1/incidents/{id}/notes": Operation(
        summary="Add a note",
        status=201,
        answer=warned(record(**_NOTE, createdBy=_PERSON)),
        body=request(NewNote, "CreateIncidentNoteRequest"),
        example={"text": "Looking into it"},
    ),
    "GET /v1/incidents/{id}/evidence": Operation(
        summary="What the checks saw that confirmed the outage",
        answer=record(evidence=many(free({"location": "local"}))),
    ),
    "GET /v1/incidents/{id}/postmortem": Operation(
        summary="A post-mortem in Markdown, from timeline, results and notes",
        media="text/markdown",
        answer={"type": "string"},
    ),
    "GET /v1/incidents/{id}/timeline": Operation(
        summary="What happened, in order",
        answer=record(
            events=many(
                record(
                    type=text("created"),
                    timestamp=moment(),
                    actor=text("System"),
                    details=text("shop is down"),
                )
            )
        ),
    ),
    "GET /v1/events": Operation(
        summary="Follow what happens, as server-sent events",
        media="text/event-stream",
        answer={"type": "string"},
        headers={
            "Cache-Control": "Nobody may keep it",
            "X-Accel-Buffering": "Proxies are to pass each event on at once",
        },
        query=(
            query("kind", text(), "Only these kinds, with commas between them"),
            query("monitor_id", text(), "Only of these monitors, with commas between them"),
            query("lastEventId", text(), "Go on after this event"),
        ),
        more={409: "The team follows as many streams already as its plan allows"},
    ),
}
