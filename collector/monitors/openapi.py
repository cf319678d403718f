"""Monitors: their configuration, tests, results and statistics."""

from collector.http.openapi.models import answer, request
from collector.http.openapi.parts import (
    PAGED,
    SPAN,
    Operation,
    choice,
    page,
    query,
    text,
    whole,
)
from collector.monitors import answers, openapi_types
from collector.monitors.api.explain_views import Explanation
from collector.monitors.service.bulk_fields import BulkFields, Filter
from collector.platform.monitor import Silence
from shared.kinds import TYPES

TAG = "Monitors"
_TYPE = choice(*TYPES)
_STATUS = choice("up", "down", "paused")
_EXAMPLE = {
    "name": "shop",
    "type": "http",
    "config": {"url": "https://shop.example.com/"},
    "interval": 60,
    "locations": ["local"],
}
_PICKED = (
    query("status", _STATUS, "Only those with this status"),
    query("type", _TYPE, "Only those of this type"),
    query("group", text(), "Only those of this group"),
    query("tag", text(), "Only those with this tag: its name, or name:value"),
    query("search", text(), "Only those with this in their name, in any case of letters"),
)
_OPENING = {503: "No probe that could run it is connected"}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/monitors": Operation(
        summary="List monitors, newest first",
        answer=page(answer(answers.MonitorItem, "MonitorItem")),
        query=(*_PICKED, *PAGED),
    ),
    "POST /v1/monitors": Operation(
        summary="Create a monitor; its first check runs at once",
        status=201,
        answer=answer(answers.CreatedMonitor, "CreatedMonitor"),
        body=openapi_types.CREATE,
        example=_EXAMPLE,
    ),
    "POST /v1/monitors/test": Operation(
        summary="Run a check once without saving anything",
        answer=answer(answers.TestedMonitor, "TestedMonitor"),
        body=openapi_types.TEST,
        example={"type": "http", "config": {"url": "https://shop.example.com/"}},
        more=_OPENING,
    ),
    "POST /v1/monitors/bulk": Operation(
        summary="Apply one action to all monitors that match a filter",
        answer=answer(answers.ChangedMonitors, "ChangedMonitors"),
        body=request(BulkFields, "ChangeMonitorsRequest", names=((Filter, "MonitorFilter"),)),
        example={"action": "pause", "filter": {"group": "web"}},
    ),
    "GET /v1/monitors/uptime": Operation(
        summary="Uptime of several monitors by day",
        answer=answer(answers.MonitorUptimes, "MonitorUptimes"),
        query=(
            query("ids", text(), "Ids of monitors, with commas between them; at most 100", required=True),
            query("days", whole(90, minimum=1, maximum=366), "How many days, to today"),
        ),
    ),
    "GET /v1/monitors/{id}": Operation(
        summary="Read a monitor, with its configuration and numbers",
        answer=openapi_types.MONITOR,
        tagged=True,
    ),
    "PUT /v1/monitors/{id}": Operation(
        summary="Update the fields that are sent; config is a JSON merge patch",
        answer=answer(answers.UpdatedMonitor, "UpdatedMonitor"),
        body=openapi_types.UPDATE,
        example={"interval": 30, "config": {"expectedStatus": [200, 204]}},
        tagged=True,
        needs_body=False,
    ),
    "DELETE /v1/monitors/{id}": Operation(
        summary="Delete a monitor and its results", status=204, tagged=True
    ),
    "GET /v1/monitors/{id}/explain": Operation(
        summary="Explain a monitor's state: votes, holds, notifications",
        answer=answer(Explanation, "MonitorExplanation"),
    ),
    "GET /v1/monitors/{id}/results": Operation(
        summary="List results, newest first",
        answer=answer(answers.MonitorResults, "MonitorResults"),
        query=(
            *SPAN,
            query("location", text(), "Only those from there"),
            query("status", choice("up", "down", "unknown"), "Only those that came out so"),
            query("limit", whole(100, minimum=1), "How many; more than 1000 is taken for 1000"),
            query("cursor", text(), "meta.next of the page before"),
        ),
    ),
    "GET /v1/monitors/{id}/results/export": Operation(
        summary="Export all results of a range, newest first, as CSV, JSON lines or Parquet",
        media="text/csv",
        headers={"Content-Disposition": "Names the file after the monitor"},
        answer=text("2026-11-21T07:24:00.000Z,eu,up,38,200,,1.2,9.4,12.8,13.1,0.4"),
        query=(
            *SPAN,
            query("location", text(), "Only those from there"),
            query("status", choice("up", "down", "unknown"), "Only those that came out so"),
            query("cursor", text(), "meta.next of a page of results: only those after that page"),
            query(
                "format",
                choice("csv", "ndjson", "parquet"),
                "csv by default; ndjson has what the list of results has; parquet has the columns of the CSV",
            ),
        ),
    ),
    "GET /v1/monitors/{id}/stats": Operation(
        summary="Response times and uptime over time, for a chart",
        answer=answer(answers.MonitorChart, "MonitorChart"),
        query=(
            *SPAN,
            query("step", text(), "As 5m, 1h, 1d, or a number of seconds"),
            query("location", text(), "Only that one"),
        ),
    ),
    "POST /v1/monitors/{id}/check": Operation(
        summary="Check a monitor once, now; the result is not stored and decides nothing",
        answer=answer(answers.TestedMonitor, "TestedMonitor"),
        more=_OPENING,
    ),
    "POST /v1/monitors/{id}/pause": Operation(
        summary="Pause a monitor: no checks until it is resumed",
        answer=answer(answers.PausedMonitor, "PausedMonitor"),
    ),
    "POST /v1/monitors/{id}/resume": Operation(
        summary="Resume a monitor and check at once",
        answer=answer(answers.ResumedMonitor, "ResumedMonitor"),
    ),
    "POST /v1/monitors/{id}/silence": Operation(
        summary="Mute a monitor's notifications for a time",
        answer=answer(answers.SilencedMonitor, "SilencedMonitor"),
        body=request(Silence, "SilenceMonitorRequest"),
        example={"duration": 3600, "reason": "works"},
    ),
    "DELETE /v1/monitors/{id}/silence": Operation(summary="Unmute a monitor", status=204),
}
