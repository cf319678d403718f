"""Maintenance windows: a calendar of the next weeks, and the forms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted
from collector.console.forms import edits, forms, read
from collector.console.forms.fields import Form
from collector.console.forms.read import Posted
from collector.console.language import gettext
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.maintenance.core.windows import WindowSpan, WindowStatus, local, status
from collector.maintenance.service import calendar, windows
from collector.maintenance.service.calendar import UpcomingSpan
from collector.maintenance.service.fields import Fields
from collector.maintenance.service.windows import WindowDetails
from collector.maintenance.storage.windows import WindowRow
from collector.monitors.console import pickers
from collector.platform import time_zones
from shared import ids
from shared.errors import Conflict, Invalid, PreconditionFailed

HERE: Final = "/alerting/maintenance"
_WEEKS: Final = 5
_DAY: Final = timedelta(days=1)
_TIMES: Final = ("start", "end")
_REPEATS: Final = (
    "FREQ=DAILY",
    "FREQ=WEEKLY;BYDAY=SU",
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "FREQ=MONTHLY;BYDAY=1SU",
    "FREQ=MONTHLY;BYMONTHDAY=1",
)
_SUGGESTED: Final = {
    "timezone": tuple((name, name) for name in time_zones.names()),
    "rrule": tuple((rule, rule) for rule in _REPEATS),
}


@dataclass(frozen=True, slots=True)
class WindowLine:
    """A window in the list; *status* as in the API."""

    row: WindowRow
    status: str
    starts_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class Day:
    """A day in UTC, with the spans that touch it."""

    date: date
    entries: list[UpcomingSpan]


async def list_(request: web.Request) -> web.StreamResponse:
    context, team_id, now = context_of(request), visitor(request).team_id, context_of(request).now()
    number, asked = common.asked(request), request.query.get("status", "")
    wanted = asked if asked in tuple(WindowStatus) else None
    offset = (number - 1) * common.PER_PAGE
    found, total = await windows.page(context.db, team_id, wanted, now, common.PER_PAGE, offset)
    ahead = await calendar.planned(context.db, team_id, now)
    return page(
        request,
        "maintenance.html.j2",
        rows=[_line(known, now) for known in found],
        weeks=_calendar(ahead, now),
        planned=bool(ahead),
        today=now.date(),
        wanted=wanted,
        statuses=tuple(WindowStatus),
        at=common.at(request, number, total),
    )


async def new(request: web.Request) -> web.StreamResponse:
    return await _drawn(request, {}, {})


async def create(request: web.Request) -> web.StreamResponse:
    form = await posted(request)
    sent = _sent(form)
    if pickers.asked(form):
        return await _drawn(request, sent, {})
    try:
        edits.check_tags(form)
        body = edits.said(sent)
        made = await windows.create(context_of(request).db, who(request), body, context_of(request).now())
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, status=400)
    return _saved(request, gettext("Maintenance scheduled."), made)


async def edit(request: web.Request) -> web.StreamResponse:
    known = await _known(request)
    return await _drawn(request, _shown(known.row), {}, known)


async def update(request: web.Request) -> web.StreamResponse:
    known, form = await _known(request), await posted(request)
    sent = _sent(form)
    if pickers.asked(form):
        return await _drawn(request, sent, {}, known)
    try:
        edits.check_tags(form)
        after = await windows.update(
            context_of(request).db,
            who(request),
            known.row.id,
            _changed(known.row, sent),
            context_of(request).now(),
            only=edits.only(form),
        )
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, known, status=400)
    except PreconditionFailed:
        return await _drawn(request, sent, edits.CHANGED, known, status=412)
    return _saved(request, "Saved.", after)


async def end(request: web.Request) -> web.StreamResponse:
    try:
        await windows.end(context_of(request).db, who(request), _id(request), context_of(request).now())
    except Conflict as fault:
        return back(request, HERE, str(fault), tone="bad")
    return back(request, HERE, "Maintenance ended. Monitors that are down are notified about from now on.")


async def delete(request: web.Request) -> web.StreamResponse:
    await windows.delete(context_of(request).db, who(request), _id(request), context_of(request).now())
    return back(request, HERE, "Maintenance deleted. Past maintenance is kept in the history.")


async def _drawn(
    request: web.Request,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    known: WindowDetails | None = None,
    *,
    status: int = 200,
) -> web.Response:
    of_tags = edits.of(faults, "tags")
    left = {name: text for name, text in faults.items() if name not in of_tags}
    choice = await pickers.monitors(request, shown.get("monitors") or ())
    options = {"monitors": choice.options}
    built = forms.build(Fields, shown, left, leave_out={"tags", "duration"}, options=options)
    fields = tuple(
        replace(field, options=_SUGGESTED.get(field.name, field.options)) for field in built.fields
    )
    whole, tags = Form(fields, built.faults), edits.tag_fields(shown.get("tags"), of_tags)
    return page(
        request,
        "maintenance_form.html.j2",
        status=status,
        known=known,
        id=ids.show("mw", known.row.id) if known else "",
        revision=await edits.revision(request, known.row.revision) if known else "",
        first=whole.named("name", "description", "enabled"),
        times=whole.named(*_TIMES),
        rest=whole.named("timezone", "rrule", "exdates"),
        selection=[*choice.into(whole.named("all", "monitors"), "monitors"), *tags],
        summary=Form((*fields, *tags), built.faults),
    )


def _shown(row: WindowRow) -> dict[str, Any]:
    """The values of the form, with start and end in the window's time zone."""
    return {**windows.settable(row), **_times(row)}


def _times(row: WindowRow) -> dict[str, str]:
    ends = local(row.starts_at + row.schedule.duration, row.schedule.zone)
    return {"start": _clock(row.starts_local), "end": _clock(ends)}


def _clock(at: datetime) -> str:
    return at.isoformat(timespec="minutes" if not at.second else "seconds")


def _sent(form: Posted) -> dict[str, Any]:
    return {**read.body(Fields, form), "tags": edits.tags(form)}


def _changed(row: WindowRow, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the update; a time left as it was shown keeps its exact value."""
    shown, kept = _times(row), windows.settable(row)
    times = {name: kept[name] if sent.get(name) == shown[name] else sent.get(name) for name in _TIMES}
    return edits.whole(Fields, {**sent, **times})


def _saved(request: web.Request, words: str, known: WindowDetails) -> web.Response:
    text = " ".join([words, *known.warnings])
    return back(request, HERE, text, tone="warn" if known.warnings else "good")


def _line(known: WindowDetails, now: datetime) -> WindowLine:
    """A line with the current span or the next one."""
    running = [span for span in known.spans if span.starts_at <= now]
    following = next((span for span in known.spans if span.starts_at > now), None)
    span = max(running, key=lambda window_span: window_span.ends_at) if running else following
    return WindowLine(
        known.row,
        status(known.spans, now, enabled=known.row.enabled),
        span.starts_at if span else None,
        span.ends_at if span else None,
    )


def _calendar(ahead: Sequence[UpcomingSpan], now: datetime) -> list[list[Day]]:
    """Weeks from Monday on; a day shows every span that touches it."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - today.weekday() * _DAY
    days = [first + at * _DAY for at in range(7 * _WEEKS)]
    laid = [Day(day.date(), [span for span in ahead if _touches(span.span, day)]) for day in days]
    return [laid[at : at + 7] for at in range(0, len(laid), 7)]


def _touches(span: WindowSpan, day: datetime) -> bool:
    return span.starts_at < day + _DAY and span.ends_at > day


def _id(request: web.Request) -> UUID:
    return path_id(request, "mw", windows.WHAT)


async def _known(request: web.Request) -> WindowDetails:
    """The window in the path. Raises NotFound."""
    return await windows.one(
        context_of(request).db, visitor(request).team_id, _id(request), context_of(request).now()
    )
