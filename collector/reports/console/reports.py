"""Reports: the list, the form, and a report with its editions."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from aiohttp import web

from collector.console import common
from collector.console.answers import back, page, posted, value
from collector.console.forms import edits, forms, read
from collector.console.forms.fields import Form
from collector.console.forms.read import Posted
from collector.console.state import visitor, who
from collector.http.context import context_of
from collector.monitors.console import pickers
from collector.platform import time_zones
from collector.reports.api.reports import report_id
from collector.reports.core.periods import PeriodKind
from collector.reports.service import editions, reports
from collector.reports.service.fields import ReportFields
from collector.reports.service.reports import ReportDetails, settable
from shared import ids
from shared.errors import Conflict, Invalid, PreconditionFailed

HERE: Final = "/reports"
_PERIOD: Final = ("period", "firstDay", "lastDay", "timezone", "sendHour", "enabled")
_ZONES: Final = tuple((name, name) for name in time_zones.names())
_DAYS: Final = frozenset({"firstDay", "lastDay"})


async def list_(request: web.Request) -> web.StreamResponse:
    """List the reports with their latest editions."""
    number = common.asked(request)
    offset = (number - 1) * common.PER_PAGE
    rows, total = await reports.page(
        context_of(request).db, visitor(request).team_id, common.PER_PAGE, offset
    )
    return page(request, "reports.html.j2", rows=rows, at=common.at(request, number, total))


async def show(request: web.Request) -> web.StreamResponse:
    """Show a report and its editions."""
    known, number = await _known(request), common.asked(request)
    offset = (number - 1) * common.PER_PAGE
    found, total = await editions.page(
        context_of(request).db, visitor(request).team_id, known.row.id, common.PER_PAGE, offset
    )
    return page(
        request,
        "report.html.j2",
        report=known.row,
        custom=known.row.period is PeriodKind.CUSTOM,
        here=path_of(known.row.id),
        editions=found,
        at=common.at(request, number, total),
    )


async def new(request: web.Request) -> web.StreamResponse:
    return await _drawn(request, {}, {})


async def create(request: web.Request) -> web.StreamResponse:
    form, context = await posted(request), context_of(request)
    sent = _sent(form)
    if pickers.asked(form):
        return await _drawn(request, sent, {})
    try:
        edits.check_tags(form)
        made = await reports.create(context.db, who(request), edits.said(sent), context.now())
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, status=400)
    except Conflict as fault:
        return back(request, HERE, str(fault), tone="bad")
    return back(request, path_of(made.row.id), "Report created.")


async def edit(request: web.Request) -> web.StreamResponse:
    known = await _known(request)
    return await _drawn(request, settable(known.row), {}, known)


async def update(request: web.Request) -> web.StreamResponse:
    known, form, context = await _known(request), await posted(request), context_of(request)
    sent = _sent(form)
    if pickers.asked(form):
        return await _drawn(request, sent, {}, known)
    try:
        edits.check_tags(form)
        await reports.update(
            context.db,
            who(request),
            known.row.id,
            edits.whole(ReportFields, sent),
            context.now(),
            only=edits.only(form),
        )
    except Invalid as fault:
        return await _drawn(request, sent, fault.details, known, status=400)
    except PreconditionFailed:
        return await _drawn(request, sent, edits.CHANGED, known, status=412)
    return back(request, path_of(known.row.id), "Saved.")


async def delete(request: web.Request) -> web.StreamResponse:
    await reports.delete(context_of(request).db, who(request), report_id(request))
    return back(request, HERE, "Report deleted.")


async def make(request: web.Request) -> web.StreamResponse:
    """Request an edition, of the period of the given day or the last complete one."""
    context, id_, form = context_of(request), report_id(request), await posted(request)
    body = {"day": value(form, "day") or None, "send": bool(value(form, "send"))}
    try:
        await editions.request(context.db, who(request), id_, body, context.now())
    except Invalid as fault:
        return back(request, path_of(id_), "; ".join(fault.details.values()).capitalize(), tone="bad")
    except Conflict as fault:
        return back(request, path_of(id_), str(fault), tone="bad")
    return back(request, path_of(id_), "The edition is being computed. It is here in a moment.")


def path_of(id_: UUID) -> str:
    """Return the path of the report's page."""
    return f"{HERE}/{ids.show('rep', id_)}"


async def _drawn(
    request: web.Request,
    shown: Mapping[str, Any],
    faults: Mapping[str, str],
    known: ReportDetails | None = None,
    *,
    status: int = 200,
) -> web.Response:
    of_tags = edits.of(faults, "tags")
    left = {name: text for name, text in faults.items() if name not in of_tags}
    choice = await pickers.monitors(request, shown.get("monitors") or ())
    pages = await reports.page_names(context_of(request).db, visitor(request).team_id)
    options = {
        "monitors": choice.options,
        "statusPage": [(ids.show("sp", id_), name) for id_, name in pages.items()],
    }
    built = forms.build(ReportFields, shown, left, leave_out={"tags"}, options=options)
    fields = tuple(
        replace(field, options=_ZONES) if field.name == "timezone" else field for field in built.fields
    )
    whole, tags = Form(fields, built.faults), edits.tag_fields(shown.get("tags"), of_tags)
    return page(
        request,
        "report_form.html.j2",
        status=status,
        known=known,
        here=path_of(known.row.id) if known else HERE,
        revision=await edits.revision(request, known.row.revision) if known else "",
        first=whole.named("name"),
        period=whole.named(*_PERIOD),
        days=_DAYS,
        content=whole.named("target", "businessHours", "recipients"),
        selection=[
            *whole.named("statusPage"),
            *choice.into(whole.named("monitors"), "monitors"),
            *tags,
        ],
        summary=Form((*fields, *tags), built.faults),
    )


def _sent(form: Posted) -> dict[str, Any]:
    return {**read.body(ReportFields, form), "tags": edits.tags(form)}


async def _known(request: web.Request) -> ReportDetails:
    """The report in the path. Raises NotFound."""
    return await reports.one(context_of(request).db, visitor(request).team_id, report_id(request))
