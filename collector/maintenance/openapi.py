"""Maintenance windows: planned work, during which nobody is notified."""

from collector.http.openapi.models import Schema, request
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    flag,
    id_,
    many,
    mapping,
    maybe,
    moment,
    page,
    query,
    record,
    ref,
    text,
    warned,
    whole,
)
from collector.maintenance.service.fields import Fields

TAG = "Maintenance"
_SPAN = record(start=moment(), end=moment())
SCHEMAS: dict[str, Schema] = {
    "MaintenanceWindow": warned(
        record(
            id=id_("mw"),
            name=text("Database upgrade"),
            description=text(""),
            monitors=many(id_("mon")),
            tags={"anyOf": [mapping(text()), many(text())]},
            all=flag(False),
            start=text("2026-12-01T02:00:00.000Z"),
            end=maybe(text("2026-12-01T04:00:00.000Z")),
            duration=maybe(whole(7200)),
            timezone=text("UTC"),
            rrule=maybe(text("FREQ=WEEKLY;BYDAY=TU")),
            exdates=many(text("2026-12-08T02:00:00")),
            enabled=flag(),
            localStart=text("2026-12-01T02:00:00"),
            status=text("scheduled"),
            until=maybe(moment()),
            nextStart=maybe(moment()),
            nextEnd=maybe(moment()),
            occurrences=many(_SPAN),
            revision=whole(1),
            createdAt=moment(),
            updatedAt=moment(),
        )
    ),
}
_WINDOW = {
    "name": "Database upgrade",
    "all": True,
    "start": "2026-12-01T02:00:00Z",
    "duration": 7200,
}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/maintenance-windows": Operation(
        summary="List maintenance windows",
        answer=page(ref("MaintenanceWindow")),
        query=(query("status", text(), "Only those that stand so"), *PAGED),
    ),
    "POST /v1/maintenance-windows": Operation(
        summary="Plan maintenance, once or again and again",
        status=201,
        answer=ref("MaintenanceWindow"),
        body=request(Fields, "CreateMaintenanceWindowRequest"),
        example=_WINDOW,
    ),
    "GET /v1/maintenance-windows/{id}": Operation(
        summary="Read a maintenance window", answer=ref("MaintenanceWindow"), tagged=True
    ),
    "PUT /v1/maintenance-windows/{id}": Operation(
        summary="Change what is sent",
        answer=ref("MaintenanceWindow"),
        body=request(Fields, "UpdateMaintenanceWindowRequest", partial=True),
        example={"duration": 3600},
        tagged=True,
        needs_body=False,
    ),
    "POST /v1/maintenance-windows/{id}/end": Operation(
        summary="End what runs now",
        answer=ref("MaintenanceWindow"),
        headers={"ETag": "The revision, in quotes"},
    ),
    "DELETE /v1/maintenance-windows/{id}": Operation(
        summary="Delete a maintenance window", status=204, tagged=True
    ),
}
