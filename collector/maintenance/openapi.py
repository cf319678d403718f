"""Maintenance windows: planned work, during which nobody is notified."""

from collector.http.openapi.models import answer, request
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    page,
    query,
    text,
)
from collector.maintenance import answers
from collector.maintenance.service.fields import Fields

TAG = "Maintenance"
_ANSWER = answer(answers.WindowAnswer, "MaintenanceWindow")
_WINDOW = {
    "name": "Database upgrade",
    "all": True,
    "start": "2026-12-01T02:00:00Z",
    "duration": 7200,
}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/maintenance-windows": Operation(
        summary="List maintenance windows",
        answer=page(_ANSWER),
        query=(query("status", text(), "Only those that stand so"), *PAGED),
    ),
    "POST /v1/maintenance-windows": Operation(
        summary="Schedule maintenance, once or recurring",
        status=201,
        answer=_ANSWER,
        body=request(Fields, "CreateMaintenanceWindowRequest"),
        example=_WINDOW,
    ),
    "GET /v1/maintenance-windows/{id}": Operation(
        summary="Read a maintenance window", answer=_ANSWER, tagged=True
    ),
    "PUT /v1/maintenance-windows/{id}": Operation(
        summary="Update the fields that are sent",
        answer=_ANSWER,
        body=request(Fields, "UpdateMaintenanceWindowRequest", partial=True),
        example={"duration": 3600},
        tagged=True,
        needs_body=False,
    ),
    "POST /v1/maintenance-windows/{id}/end": Operation(
        summary="End the maintenance in progress",
        answer=_ANSWER,
        headers={"ETag": "The revision, in quotes"},
    ),
    "DELETE /v1/maintenance-windows/{id}": Operation(
        summary="Delete a maintenance window", status=204, tagged=True
    ),
}
