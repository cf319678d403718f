"""Incidents: list, read with log and post-mortem, create, acknowledge, resolve, reopen, add notes."""

from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

from aiohttp import web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, ok, path_id
from collector.incidents.answers import (
    AcknowledgedIncident,
    AnsweredHeader,
    BySeverity,
    CheckPhases,
    CreatedIncident,
    CreatedNote,
    EvidenceAnswer,
    IncidentDetails,
    IncidentEvidence,
    IncidentGroup,
    IncidentStats,
    IncidentTimeline,
    ListedNote,
    ReopenedIncident,
    ResolvedIncident,
    TimelineEntry,
)
from collector.incidents.core.fields import Changes, NewIncident, NewNote, ReopenRequest, Resolution, Snooze
from collector.incidents.core.stats import Period, dates
from collector.incidents.core.status import IncidentStatus
from collector.incidents.service import actions, incidents, postmortem
from collector.incidents.service import evidence as incident_evidence
from collector.incidents.service import stats as incident_stats
from collector.incidents.service.followers import IncidentFollowers
from collector.incidents.storage.evidence import EvidenceRow
from collector.incidents.storage.reads import IncidentFilter, IncidentLogEntry, IncidentNote
from collector.platform.answers import Person, extended
from collector.platform.validation.validation import check, ignored
from shared import ids
from shared.clock import EPOCH

INCIDENT_FOLLOWERS: web.AppKey[IncidentFollowers] = web.AppKey("incident_followers")
_STATUSES: Final = tuple(IncidentStatus)
_DEFAULT_RANGE = timedelta(days=30)
_MOST_GROUPS = 3_660


async def list_(request: web.Request) -> web.Response:
    query = Query(request)
    at = pages.page(query)
    since, until = query.span()
    wanted = IncidentFilter(
        status=query.one_of("status", _STATUSES),
        severity=query.one_of("severity", incident_stats.SEVERITIES),
        monitor_id=query.id("monitor_id", "mon"),
        since=since,
        until=until,
    )
    query.done()
    context = context_of(request)
    found, total = await incidents.page(context.db, caller(request).team_id, wanted, at.limit, at.offset)
    now = context.now()
    return pages.answer(request, at, [incidents.shown(incident, now) for incident in found], total)


async def get(request: web.Request) -> web.Response:
    context = context_of(request)
    id_ = path_id(request, "inc", incidents.WHAT)
    incident, notes = await incidents.one(context.db, caller(request).team_id, id_)
    whole = incidents.shown(incident, context.now())
    return ok(extended(IncidentDetails, whole, notes=[_note(incident.id, note) for note in notes]))


async def create(request: web.Request) -> web.Response:
    context = context_of(request)
    sent = incidents.settable(await body(request), NewIncident)
    made, unknown = await actions.raise_(context.db, actor(request), sent, context.now())
    answer = CreatedIncident(
        id=ids.show("inc", made.id),
        title=made.title,
        status=made.status,
        severity=made.severity,
        created_at=made.created_at,
        warnings=ignored(unknown) or None,
    )
    return ok(answer, 201, {"Location": f"{context.public_url}/v1/incidents/{answer.id}"})


async def update(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(Changes, incidents.settable(await body(request), Changes))
    changed = await actions.change(context.db, actor(request), id_, wanted, context.now())
    return ok(replace(incidents.shown(changed, context.now()), warnings=ignored(unknown) or None))


async def acknowledge(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "inc", incidents.WHAT)
    who, now = actor(request), context.now()
    done = await actions.acknowledge(context.db, request.app[INCIDENT_FOLLOWERS], who, id_, now)
    return ok(
        AcknowledgedIncident(
            id=ids.show("inc", id_),
            status=done.status,
            acknowledged_at=now,
            acknowledged_by=Person(**who.shown),
        )
    )


async def unacknowledge(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "inc", incidents.WHAT)
    followers, who, now = request.app[INCIDENT_FOLLOWERS], actor(request), context.now()
    return ok(incidents.shown(await actions.unacknowledge(context.db, followers, who, id_, now), now))


async def snooze(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(Snooze, await body(request))
    now = context.now()
    until = now + timedelta(seconds=wanted.duration)
    done = await actions.snooze(context.db, actor(request), id_, until, now)
    return ok(replace(incidents.shown(done, now), warnings=ignored(unknown) or None))


async def end_snooze(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "inc", incidents.WHAT)
    now = context.now()
    return ok(incidents.shown(await actions.end_snooze(context.db, actor(request), id_, now), now))


async def resolve(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(Resolution, await body(request))
    who, now = actor(request), context.now()
    done = await actions.resolve(context.db, who, id_, wanted.resolution_note, now)
    return ok(
        ResolvedIncident(
            id=ids.show("inc", id_),
            status=done.status,
            resolved_at=now,
            resolved_by=Person(**who.shown),
            downtime=incidents.lasted_s(done, now),
            resolution_note=done.resolution_note,
            warnings=ignored(unknown) or None,
        )
    )


async def reopen(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(ReopenRequest, await body(request))
    now = context.now()
    done = await actions.reopen(context.db, actor(request), id_, wanted.reason, now)
    return ok(
        ReopenedIncident(
            id=ids.show("inc", id_),
            status=done.status,
            reopened_at=now,
            warnings=ignored(unknown) or None,
        )
    )


async def add_note(request: web.Request) -> web.Response:
    context, id_ = context_of(request), await _found(request)
    wanted, unknown = check(NewNote, await body(request))
    note = await actions.add_note(context.db, actor(request), id_, wanted.text, context.now())
    answer = CreatedNote(
        id=ids.show("note", note.id),
        incident_id=ids.show("inc", id_),
        text=note.text,
        created_by=Person(**note.created_by),
        created_at=note.created_at,
        warnings=ignored(unknown) or None,
    )
    return ok(answer, 201)


async def stats(request: web.Request) -> web.Response:
    context, query = context_of(request), Query(request)
    since, until = query.span()
    now = context.now()
    until = until or max(now, since or now)
    since = since or max(until - _DEFAULT_RANGE, EPOCH) if until > EPOCH else until
    group = Period(query.one_of("group_by", tuple(Period)) or Period.DAY)
    if sum(1 for _ in zip(dates(group, since, until), range(_MOST_GROUPS + 1), strict=False)) > _MOST_GROUPS:
        query.fault(
            "from", f"makes more than {_MOST_GROUPS} groups; ask for weeks or months, or a shorter time"
        )
    query.done()
    found = await incident_stats.stats(context.db, caller(request).team_id, group, since, until, now)
    groups = [
        IncidentGroup(date=one.date.isoformat(), incidents=one.incidents, avg_downtime=one.avg_downtime)
        for one in found.groups
    ]
    return ok(
        IncidentStats(
            total_incidents=found.incidents,
            open_incidents=found.unresolved,
            mttr=found.mttr,
            mtta=found.mtta,
            avg_downtime=found.avg_downtime,
            by_severity=BySeverity(**found.by_severity),
            by_day=groups if group is Period.DAY else None,
            by_week=groups if group is Period.WEEK else None,
            by_month=groups if group is Period.MONTH else None,
        )
    )


async def post_mortem(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "inc", incidents.WHAT)
    team_id = caller(request).team_id
    text = await postmortem.write(context.db, context.keyring, team_id, id_, context.now())
    return web.Response(text=text, content_type="text/markdown", charset="utf-8")


async def evidence(request: web.Request) -> web.Response:
    context, id_ = context_of(request), path_id(request, "inc", incidents.WHAT)
    kept = await incident_evidence.of_incident(context.db, context.keyring, caller(request).team_id, id_)
    return ok(IncidentEvidence(evidence=[_evidence(one) for one in kept]))


async def timeline(request: web.Request) -> web.Response:
    id_ = path_id(request, "inc", incidents.WHAT)
    entries = await incidents.timeline(context_of(request).db, caller(request).team_id, id_)
    return ok(IncidentTimeline(events=[_entry(entry) for entry in entries]))


async def _found(request: web.Request) -> UUID:
    """Return the id in the path after checking that the incident exists, so that 404 comes before 400."""
    id_ = path_id(request, "inc", incidents.WHAT)
    await incidents.one(context_of(request).db, caller(request).team_id, id_)
    return id_


def _note(incident_id: UUID, note: IncidentNote) -> ListedNote:
    return ListedNote(
        id=ids.show("note", note.id),
        incident_id=ids.show("inc", incident_id),
        text=note.text,
        created_by=note.created_by["name"],
        created_at=note.created_at,
    )


def _entry(entry: IncidentLogEntry) -> TimelineEntry:
    return TimelineEntry(type=entry.type, timestamp=entry.at, actor=entry.actor, details=entry.details)


def _evidence(evidence: EvidenceRow) -> EvidenceAnswer:
    saw, phases = evidence.saw, evidence.saw["phases"]
    return EvidenceAnswer(
        location=evidence.location,
        timestamp=evidence.at,
        run=saw["run"],
        address=saw["address"],
        status_code=saw["statusCode"],
        error=saw["error"],
        response_time=saw["responseTime"],
        phases=CheckPhases(
            dns=phases["dns"],
            connect=phases["connect"],
            tls=phases["tls"],
            first_byte=phases["firstByte"],
            transfer=phases["transfer"],
        ),
        headers=[AnsweredHeader(name=each["name"], value=each["value"]) for each in saw["headers"]],
        body=saw["body"],
    )
