"""Reports of uptime over weeks, months, quarters or given days."""

from collector.http.openapi.models import answer, request
from collector.http.openapi.parts import PAGED, Operation, page
from collector.reports import answers
from collector.reports.service.editions import EditionFields
from collector.reports.service.fields import ReportFields

TAG = "Reports"
_REPORT = answer(answers.ReportAnswer, "Report")
_EDITION = answer(answers.EditionAnswer, "ReportEdition")
_FILE = {"Content-Disposition": "The name of the file"}
_PENDING = {409: "The edition is not computed yet"}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/reports": Operation(summary="List reports", answer=page(_REPORT), query=PAGED),
    "POST /v1/reports": Operation(
        summary="Create a report of a team, a status page or tags",
        status=201,
        answer=_REPORT,
        body=request(ReportFields, "CreateReportRequest"),
        example={"name": "Shop, monthly", "tags": ["team:shop"], "period": "month", "target": 99.9},
    ),
    "GET /v1/reports/{id}": Operation(summary="Read a report", answer=_REPORT, tagged=True),
    "PUT /v1/reports/{id}": Operation(
        summary="Update the fields that are sent",
        answer=_REPORT,
        body=request(ReportFields, "UpdateReportRequest", partial=True),
        example={"target": 99.95},
        tagged=True,
        needs_body=False,
    ),
    "DELETE /v1/reports/{id}": Operation(
        summary="Delete a report with its editions", status=204, tagged=True
    ),
    "GET /v1/reports/{id}/editions": Operation(
        summary="List the editions of a report, of the latest period first",
        answer=page(_EDITION),
        query=PAGED,
    ),
    "POST /v1/reports/{id}/editions": Operation(
        summary="Request an edition of a period that is over",
        status=201,
        answer=_EDITION,
        body=request(EditionFields, "CreateReportEditionRequest"),
        example={"day": "2026-10-01"},
        needs_body=False,
    ),
    "GET /v1/reports/{reportId}/editions/{editionId}": Operation(
        summary="Read an edition with its content", answer=_EDITION
    ),
    "GET /v1/reports/{reportId}/editions/{editionId}/csv": Operation(
        summary="Download an edition as CSV, a line for each monitor",
        answer={"type": "string"},
        media="text/csv",
        headers=_FILE,
        more=_PENDING,
    ),
    "GET /v1/reports/{reportId}/editions/{editionId}/pdf": Operation(
        summary="Download an edition as PDF",
        answer={"type": "string", "contentMediaType": "application/pdf"},
        media="application/pdf",
        headers=_FILE,
        more={409: "The edition is not computed yet, or the collector lacks the extra `pdf`"},
    ),
}
