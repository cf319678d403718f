"""An edition of a report as a page, to be read and printed, and as files."""

from typing import Final
from uuid import UUID

from aiohttp import web

from collector.console.answers import back, page
from collector.console.state import visitor
from collector.http.context import context_of
from collector.http.request_data import path_id
from collector.platform.answer_json import encode
from collector.reports.api.editions import download, pdf_file, shown
from collector.reports.api.reports import report_id
from collector.reports.console.reports import path_of
from collector.reports.core import spreadsheet
from collector.reports.core.content import ReportContent
from collector.reports.service import editions
from collector.reports.storage.editions import Edition
from shared.errors import Conflict

_JSON: Final = "application/json; charset=utf-8"
_CSV: Final = "text/csv; charset=utf-8"


async def show(request: web.Request) -> web.StreamResponse:
    """Show the edition; until it is computed, the page of its report."""
    report, edition = _ids(request)
    known = await editions.one(context_of(request).db, visitor(request).team_id, report, edition)
    if known.content is None:
        return back(request, path_of(report), "The edition is not computed yet.", tone="warn")
    names = {line.id: line for line in known.content.monitors}
    return page(
        request,
        "report_edition.html.j2",
        edition=known.edition,
        content=known.content,
        best=[names[id_] for id_ in known.content.best],
        worst=[names[id_] for id_ in known.content.worst],
        here=f"{path_of(report)}/editions/{request.match_info['editionId']}",
        above=path_of(report),
        seconds=spreadsheet.seconds,
    )


async def csv(request: web.Request) -> web.StreamResponse:
    try:
        edition, content = await _ready(request)
    except Conflict as fault:
        return back(request, path_of(_ids(request)[0]), str(fault), tone="warn")
    return download(edition, "csv", _CSV, spreadsheet.written(content))


async def pdf(request: web.Request) -> web.StreamResponse:
    try:
        return await pdf_file(*await _ready(request))
    except Conflict as fault:
        return back(request, path_of(_ids(request)[0]), str(fault), tone="warn")


async def json(request: web.Request) -> web.StreamResponse:
    """Send the edition as the API shows it."""
    report, edition = _ids(request)
    known = await editions.one(context_of(request).db, visitor(request).team_id, report, edition)
    return download(known.edition, "json", _JSON, encode(shown(known.edition, known.content)))


async def _ready(request: web.Request) -> tuple[Edition, ReportContent]:
    return await editions.ready(context_of(request).db, visitor(request).team_id, *_ids(request))


def _ids(request: web.Request) -> tuple[UUID, UUID]:
    return report_id(request, "reportId"), path_id(request, "edn", "Edition", "editionId")
