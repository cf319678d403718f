"""Incidents: the list, open ones first, and the page of an incident with its actions."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, TypeVar
from uuid import UUID

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.forms import forms, read
from collector.console.language import gettext, translate
from collector.console.state import visitor, who
from collector.events.core.timeline import TimelineType
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.incidents.api import INCIDENT_FOLLOWERS
from collector.incidents.console.comparison import compare
from collector.incidents.core.fields import Changes, NewIncident, NewNote, ReopenRequest, Resolution, Snooze
from collector.incidents.core.status import IncidentStatus
from collector.incidents.service import actions, evidence, incidents
from collector.incidents.service.stats import SEVERITIES
from collector.incidents.storage.evidence import EvidenceRow
from collector.incidents.storage.reads import Incident, IncidentFilter, IncidentLogEntry
from collector.monitors.storage.explain_reads import DeliveryRow
from collector.platform.validation.validation import check
from shared import ids
from shared.errors import Conflict, Invalid

HERE: Final = "/incidents"
_STATUSES: Final = tuple(IncidentStatus)

# What else an entry of the log says is neither good nor bad.
_TONES: Final[Mapping[str, str]] = {
    TimelineType.CREATED: "bad",
    TimelineType.REOPENED: "bad",
    TimelineType.LOCATION_FAILING: "bad",
    TimelineType.RESOLVED: "good",
    TimelineType.LOCATION_RECOVERED: "good",
    TimelineType.ESCALATED: "warn",
    TimelineType.NOTIFICATION_FAILED: "warn",
}

T = TypeVar("T")


_SNOOZES: Final = (
    (1_800, "30 minutes"),
    (3_600, "1 hour"),
    (14_400, "4 hours"),
    (43_200, "12 hours"),
    (86_400, "1 day"),
)


@dataclass(frozen=True, slots=True)
class IncidentLine:
    """A line of the list; *lasted*: the seconds for which it was, or has been, open."""

    incident: Incident
    lasted: int
    snoozed_until: datetime | None


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """A line of the timeline: an entry of the log, a failed check, or an event with its *deliveries*.

    *tone*: ``good``, ``bad``, ``warn`` or empty.
    """

    at: datetime
    title: str
    details: str = ""
    actor: str = ""
    tone: str = ""
    deliveries: Sequence[DeliveryRow] = ()


async def list_(request: web.Request) -> web.StreamResponse:
    """List incidents; unresolved ones are at the top of every page."""
    context, mine, now = context_of(request), visitor(request), context_of(request).now()
    number, wanted = common.asked(request), _wanted(request)
    offset = (number - 1) * common.PER_PAGE
    found, total = await incidents.page(context.db, mine.team_id, wanted, common.PER_PAGE, offset)
    urgent: list[Incident] = []
    if wanted == IncidentFilter():
        for status in (IncidentStatus.OPEN, IncidentStatus.ACKNOWLEDGED):
            some, _ = await incidents.page(
                context.db, mine.team_id, IncidentFilter(status=status), common.PER_PAGE, 0
            )
            urgent += some
    return page(
        request,
        "incidents.html.j2",
        urgent=[_row(incident, now) for incident in urgent],
        rows=[_row(incident, now) for incident in found if incident not in urgent],
        total=total,
        at=common.at(request, number, total),
        wanted=wanted,
        statuses=_STATUSES,
        severities=SEVERITIES,
    )


async def show(request: web.Request) -> web.StreamResponse:
    """Show an incident; its timeline begins with the oldest line, with ``order=newest`` with the newest."""
    return await _shown(request, {})


async def new(request: web.Request) -> web.StreamResponse:
    return page(request, "incident_form.html.j2", form=forms.build(NewIncident))


async def create(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    sent = read.body(NewIncident, await posted(request))
    try:
        wanted, _ = check(NewIncident, {name: one for name, one in sent.items() if one is not None})
        made = await actions.create(context.db, who(request), wanted, context.now())
    except Invalid as fault:
        form = forms.build(NewIncident, sent, fault.details)
        return page(request, "incident_form.html.j2", status=400, form=form)
    return back(request, path(made.id), "Incident created.")


async def acknowledge(request: web.Request) -> web.StreamResponse:
    return await _perform(
        request,
        lambda id_, _: actions.acknowledge(
            context_of(request).db,
            request.app[INCIDENT_FOLLOWERS],
            who(request),
            id_,
            context_of(request).now(),
        ),
        "Acknowledged. Escalations and reminders have stopped.",
        undo="unacknowledge",
    )


async def unacknowledge(request: web.Request) -> web.StreamResponse:
    context, followers = context_of(request), request.app[INCIDENT_FOLLOWERS]
    return await _perform(
        request,
        lambda id_, _: actions.unacknowledge(context.db, followers, who(request), id_, context.now()),
        "Acknowledgement withdrawn: reminders and escalations go on.",
    )


async def snooze(request: web.Request) -> web.StreamResponse:
    context, now = context_of(request), context_of(request).now()

    def action(id_: UUID, form: Mapping[str, Any]) -> Awaitable[Incident]:
        length = value(form, "duration")
        wanted, _ = check(Snooze, {"duration": int(length) if length.isdigit() else length})
        until = now + timedelta(seconds=wanted.duration)
        return actions.snooze(context.db, who(request), id_, until, now)

    return await _perform(
        request, action, "Snoozed: reminders and escalations wait until then.", undo="end-snooze"
    )


async def end_snooze(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    return await _perform(
        request,
        lambda id_, _: actions.end_snooze(context.db, who(request), id_, context.now()),
        "Snooze ended: reminders and escalations go on.",
    )


async def resolve(request: web.Request) -> web.StreamResponse:
    def action(id_: UUID, form: Mapping[str, Any]) -> Awaitable[Incident]:
        wanted, _ = check(Resolution, _given(form, resolutionNote="note"))
        now = context_of(request).now()
        return actions.resolve(context_of(request).db, who(request), id_, wanted.resolution_note, now)

    return await _perform(request, action, "Incident resolved.", undo="reopen")


async def reopen(request: web.Request) -> web.StreamResponse:
    def action(id_: UUID, form: Mapping[str, Any]) -> Awaitable[Incident]:
        wanted, _ = check(ReopenRequest, _given(form, reason="note"))
        now = context_of(request).now()
        return actions.reopen(context_of(request).db, who(request), id_, wanted.reason, now)

    return await _perform(request, action, "Incident reopened.")


async def note(request: web.Request) -> web.StreamResponse:
    def action(id_: UUID, form: Mapping[str, Any]) -> Awaitable[Any]:
        wanted, _ = check(NewNote, _given(form, text="note"))
        return actions.add_note(
            context_of(request).db, who(request), id_, wanted.text, context_of(request).now()
        )

    return await _perform(request, action, "Note added.")


async def set_severity(request: web.Request) -> web.StreamResponse:
    def action(id_: UUID, form: Mapping[str, Any]) -> Awaitable[Incident]:
        wanted, _ = check(Changes, {"severity": value(form, "severity")})
        return actions.change(context_of(request).db, who(request), id_, wanted, context_of(request).now())

    return await _perform(request, action, "Severity changed.")


async def _shown(request: web.Request, faults: Mapping[str, str], status: int = 200) -> web.Response:
    context, team_id = context_of(request), visitor(request).team_id
    id_, now = path_id(request, "inc", incidents.WHAT), context_of(request).now()
    incident, _ = await incidents.one(context.db, team_id, id_)
    log = await incidents.timeline(context.db, team_id, id_)
    sent = await incidents.notifications(context.db, team_id, incident)
    failures = await evidence.of_incident(context.db, context.keyring, team_id, id_)
    counted = await incidents.checks(context.db, team_id, incident, now)
    newest_first = request.query.get("order") == "newest"
    return page(
        request,
        "incident.html.j2",
        status=status,
        incident=incident,
        id=ids.show("inc", id_),
        lasted=incidents.lasted_s(incident, now),
        snoozed_until=incident.snoozed(now),
        snoozes=_SNOOZES,
        timeline=_timeline(log, sent, failures, newest_first=newest_first),
        newest_first=newest_first,
        evidence=failures,
        comparison=compare(counted, failures),
        severities=SEVERITIES,
        faults=faults,
        now=now,
    )


def _timeline(
    log: Sequence[IncidentLogEntry],
    sent: Sequence[DeliveryRow],
    failures: Sequence[EvidenceRow],
    *,
    newest_first: bool,
) -> list[TimelineLine]:
    """Return failed checks, the log and notifications as one list in the order of time."""
    lines = [
        TimelineLine(
            entry.at,
            translate(entry.type.replace("_", " ")),
            entry.details,
            entry.actor,
            _TONES.get(entry.type, ""),
        )
        for entry in log
    ]
    for _, same in groupby(sent, key=lambda each: each.event_id):
        deliveries = [each for each in same if each.channel]
        if deliveries:
            first = deliveries[0]
            lines.append(
                TimelineLine(
                    first.at,
                    gettext("sent: %(event)s", event=first.kind.replace(".", " ")),
                    tone="off",
                    deliveries=deliveries,
                )
            )
    lines += [
        TimelineLine(
            row.at,
            gettext("check failed at %(location)s", location=row.location),
            row.saw["error"] or "",
            tone="bad",
        )
        for row in failures
    ]
    return sorted(lines, key=lambda line: line.at, reverse=newest_first)


async def _perform(
    request: web.Request,
    action: Callable[[UUID, Mapping[str, Any]], Awaitable[T]],
    text: str,
    *,
    undo: str = "",
) -> web.StreamResponse:
    """Perform the action and report it; what prevents it is reported at the top of the page.

    *undo*: the action that takes it back, if there is one.
    """
    id_, form = path_id(request, "inc", incidents.WHAT), await posted(request)
    try:
        await action(id_, form)
    except Invalid as fault:
        return await _shown(request, fault.details, status=400)
    except Conflict as fault:
        return back(request, path(id_), str(fault), tone="bad")
    return back(request, path(id_), text, undo=f"{path(id_)}/{undo}" if undo else "")


def _given(form: Mapping[str, Any], **named: str) -> dict[str, str]:
    """Return the fields of the API's body from the form's fields with these names."""
    given = {name: value(form, field) for name, field in named.items()}
    return {name: text for name, text in given.items() if text.strip() or name == "text"}


def _row(incident: Incident, now: datetime) -> IncidentLine:
    return IncidentLine(incident, incidents.lasted_s(incident, now), incident.snoozed(now))


def _wanted(request: web.Request) -> IncidentFilter:
    status, severity = request.query.get("status"), request.query.get("severity")
    return IncidentFilter(
        status=status if status in _STATUSES else None,
        severity=severity if severity in SEVERITIES else None,
        monitor_id=ids.read("mon", request.query.get("monitor", "")),
    )


def path(id_: UUID) -> str:
    """Return the path of an incident's page."""
    return f"{HERE}/{ids.show('inc', id_)}"
