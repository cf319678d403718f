"""Editions of reports: list, request, read, and download as CSV or PDF."""

import asyncio
from uuid import UUID

from aiohttp import hdrs, web

from collector.http import pages
from collector.http.auth import actor, caller
from collector.http.context import context_of
from collector.http.request_data import Query, body, ok, path_id
from collector.reports.answers import EditionAnswer
from collector.reports.api.reports import report_id
from collector.reports.core import spreadsheet
from collector.reports.core.content import ReportContent
from collector.reports.service import editions, reports
from collector.reports.service.pdf import written
from collector.reports.storage.editions import Edition
from shared import ids


async def list_(request: web.Request) -> web.Response:
    context, id_, team_id = context_of(request), report_id(request), caller(request).team_id
    await reports.one(context.db, team_id, id_)
    query = Query(request)
    at = pages.page(query)
    query.done()
    found, total = await editions.page(context.db, team_id, id_, at.limit, at.offset)
    return pages.answer(request, at, [shown(edition) for edition in found], total)


async def create(request: web.Request) -> web.Response:
    context, id_ = context_of(request), report_id(request)
    await reports.one(context.db, caller(request).team_id, id_)
    made = await editions.request(context.db, actor(request), id_, await body(request), context.now())
    return ok(shown(made.edition), 201)


async def get(request: web.Request) -> web.Response:
    known = await editions.one(context_of(request).db, caller(request).team_id, *_ids(request))
    return ok(shown(known.edition, known.content))


async def csv(request: web.Request) -> web.Response:
    edition, content = await _ready(request)
    return download(edition, "csv", "text/csv; charset=utf-8", spreadsheet.written(content))


async def pdf(request: web.Request) -> web.Response:
    edition, content = await _ready(request)
    return await pdf_file(edition, content)


async def pdf_file(edition: Edition, content: ReportContent) -> web.Response:
    """Return the edition as PDF. Raises Conflict if the collector cannot write any."""
    data = await asyncio.to_thread(written, content, edition.number)
    return download(edition, "pdf", "application/pdf", data)


def download(edition: Edition, ending: str, media: str, data: bytes) -> web.Response:
    """Return *data* as a file that is named after the report's first day."""
    name = f"{ids.show('rep', edition.report_id)}-{edition.first_day}-{edition.number}.{ending}"
    return web.Response(
        body=data,
        headers={
            hdrs.CONTENT_TYPE: media,
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{name}"',
        },
    )


async def _ready(request: web.Request) -> tuple[Edition, ReportContent]:
    return await editions.ready(context_of(request).db, caller(request).team_id, *_ids(request))


def _ids(request: web.Request) -> tuple[UUID, UUID]:
    return report_id(request, "reportId"), path_id(request, "edn", "Edition", "editionId")


def shown(edition: Edition, content: ReportContent | None = None) -> EditionAnswer:
    """Return the response for an edition."""
    return EditionAnswer(
        id=ids.show("edn", edition.id),
        report_id=ids.show("rep", edition.report_id),
        number=edition.number,
        status=edition.status,
        since=edition.since,
        until=edition.until,
        requested_at=edition.requested_at,
        computed_at=edition.computed_at,
        mails_sent=edition.sent,
        mails_waiting=edition.unsent,
        content=content,
    )
