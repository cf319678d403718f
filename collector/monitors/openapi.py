"""Monitors: what they are, how they are changed and tested, and what was measured."""

from collector.http.openapi.models import Schema, request
from collector.http.openapi.parts import (
    PAGED,
    SPAN,
    Operation,
    choice,
    day,
    flag,
    free,
    id_,
    many,
    mapping,
    maybe,
    moment,
    number,
    page,
    query,
    record,
    ref,
    text,
    warned,
    whole,
)
from collector.monitors import openapi_types
from collector.monitors.service.bulk_fields import BulkFields, Filter
from collector.platform.monitor import Silence
from collector.web3 import openapi
from shared.kinds import TYPES

TAG = "Monitors"
_TYPE = choice(*TYPES)
_STATUS = choice("up", "down", "paused")
_SEVERITY = choice("critical", "high", "medium", "low")
_ERROR = text("connect: connection refused by 192.0.2.1:443")
_EXAMPLE = {
    "name": "shop",
    "type": "http",
    "config": {"url": "https://shop.example.com/"},
    "interval": 60,
    "locations": ["local"],
}
_PHASES = record(
    dns=maybe(number(1.2)),
    connect=maybe(number(8.1)),
    tls=maybe(number(19.7)),
    firstByte=maybe(number(31.5)),
    transfer=maybe(number(2.0)),
)
_LISTED = {
    "id": id_("mon"),
    "name": text(),
    "type": _TYPE,
    "status": _STATUS,
    "interval": whole(60),
    "timeout": whole(10),
    "locations": many(text("local")),
    "tags": mapping(text("web")),
    "severity": _SEVERITY,
    "group": maybe(text("web")),
    "revision": whole(1),
    "lastCheckedAt": maybe(moment()),
    "silencedUntil": maybe(moment()),
    "pausedAt": maybe(moment()),
    "createdAt": moment(),
    "updatedAt": moment(),
}
_AT_LOCATION = record(
    ("certificate",),
    location=text("local"),
    status=choice("up", "down", "unknown"),
    consecutiveFailures=whole(0),
    failingSince=maybe(moment()),
    lastCheckedAt=maybe(moment()),
    responseTime=maybe(whole(38)),
    error=maybe(_ERROR),
    certificate=maybe(record(endsAt=moment(), daysLeft=whole(59))),
)
_STATS = record(
    uptime=number(),
    avgLatency=number(38),
    checksToday=whole(1440),
    p50=number(36),
    p95=number(61),
    p99=number(120),
    uptime24h=number(100),
    uptime7d=number(),
    uptime90d=number(),
    checkSuccess=number(),
    measured=flag(),
)
_POINT = {
    "uptime": maybe(number()),
    "checks": whole(60),
    "checkSuccess": maybe(number()),
    "avgLatency": maybe(number(38)),
    "p50": maybe(number(36)),
    "p95": maybe(number(61)),
    "p99": maybe(number(120)),
    "knownSeconds": number(3600),
    "outageSeconds": number(0),
}
_RESULT = {
    "timestamp": moment(),
    "status": choice("up", "down", "unknown"),
    "responseTime": whole(38),
    "location": text("local"),
    "statusCode": maybe(whole(200)),
    "error": maybe(_ERROR),
}
# Of heartbeat, prometheus and opentelemetry monitors: where they are reported to, and by which secret.
_REPORTED_TO = {
    "pingUrl": text("https://example.com/v1/ping/0123abcd", format="uri"),
    "ingestUrl": text(
        "https://example.com/v1/ingest/prometheus/mon_01m83rqxmyfypr5dcvdtrbt35j", format="uri"
    ),
    "endpoint": text("https://example.com:4317", format="uri"),
    "authToken": text("tocsin_0123abcd"),
}
REPORTED_TO = record(tuple(_REPORTED_TO), **_REPORTED_TO)
SCHEMAS: dict[str, Schema] = {
    "MonitorItem": record(url=maybe(text("https://shop.example.com/")), **_LISTED),
    "Monitor": record(
        ("alerts",),
        **_LISTED,
        alerts=many(openapi.ALERT),
        config=free(_EXAMPLE["config"]),
        stats=_STATS,
        locationStates=many(_AT_LOCATION),
        description=text("The shop's front page"),
        failureThreshold=whole(3),
        recoveryThreshold=whole(1),
        quorum={"type": ["string", "integer"], "examples": ["majority", 2]},
        dependsOn=many(id_("mon")),
        runbookUrl=maybe(text("https://example.com/runbooks/shop")),
    ),
    "Result": record(
        ("daysLeft", "body", "samples", "logs"),
        **_RESULT,
        phases=_PHASES,
        daysLeft=whole(59),
        body=text("disk is full"),
        samples=whole(420),
        logs=many(openapi.LOG),
    ),
    "Point": record(**{"from": moment(), "to": moment()}, **_POINT),
}
_ACTION = choice("pause", "resume", "silence", "unsilence", "tag", "untag", "delete")
_PICKED = (
    query("status", _STATUS, "Only those with this status"),
    query("type", _TYPE, "Only those of this type"),
    query("group", text(), "Only those of this group"),
    query("tag", text(), "Only those with this tag: its name, or name:value"),
)
_RESULTS_META = record(
    total=whole(1440),
    **{"from": moment(), "to": moment()},
    limit=whole(100),
    next=maybe(text("MTc2Mzcy")),
)
_OPENING = {503: "No probe that could run it is connected"}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/monitors": Operation(
        summary="List monitors, newest first", answer=page(ref("MonitorItem")), query=(*_PICKED, *PAGED)
    ),
    "POST /v1/monitors": Operation(
        summary="Make a monitor; its first check runs at once",
        status=201,
        answer=warned(
            record(
                ("config",),
                id=id_("mon"),
                name=text(),
                type=_TYPE,
                status=_STATUS,
                createdAt=moment(),
                config=REPORTED_TO,
            )
        ),
        body=openapi_types.CREATE,
        example=_EXAMPLE,
    ),
    "POST /v1/monitors/test": Operation(
        summary="Check once, now, and keep nothing",
        answer=warned(openapi.TESTED),
        body=openapi_types.TEST,
        example={"type": "http", "config": {"url": "https://shop.example.com/"}},
        more=_OPENING,
    ),
    "POST /v1/monitors/bulk": Operation(
        summary="One deed for all monitors that a filter takes",
        answer=warned(
            record(
                action=_ACTION,
                matched=whole(2),
                changed=whole(2),
                ids=many(id_("mon")),
                failed=many(record(id=id_("mon"), message=text("Monitor not found"))),
            )
        ),
        body=request(BulkFields, "ChangeMonitorsRequest", names=((Filter, "MonitorFilter"),)),
        example={"action": "pause", "filter": {"group": "web"}},
    ),
    "GET /v1/monitors/uptime": Operation(
        summary="Uptime of several monitors by day",
        answer=record(
            data=many(
                record(
                    id=id_("mon"),
                    uptime=maybe(number()),
                    days=many(record(date=day(), uptime=maybe(number()), outageSeconds=number(0))),
                )
            )
        ),
        query=(
            query("ids", text(), "Ids of monitors, with commas between them; at most 100", required=True),
            query("days", whole(90, minimum=1, maximum=366), "How many days, to today"),
        ),
    ),
    "GET /v1/monitors/{id}": Operation(
        summary="Read a monitor, with its configuration and numbers", answer=ref("Monitor"), tagged=True
    ),
    "PUT /v1/monitors/{id}": Operation(
        summary="Change what is sent; config is a JSON merge patch",
        answer=warned(
            record(id=id_("mon"), name=text(), interval=whole(60), updatedAt=moment(), revision=whole(2))
        ),
        body=openapi_types.UPDATE,
        example={"interval": 30, "config": {"expectedStatus": [200, 204]}},
        tagged=True,
        needs_body=False,
    ),
    "DELETE /v1/monitors/{id}": Operation(
        summary="Delete a monitor and its results", status=204, tagged=True
    ),
    "GET /v1/monitors/{id}/explain": Operation(
        summary="Why it stands as it does: votes, holds, who was told",
        answer=record(
            status=text("up"),
            since=maybe(moment()),
            sentence=text("up: 1 of 1 locations says so"),
            locations=many(free()),
            quorum=free({"setting": "majority", "voters": 1, "needed": 1, "failing": 0}),
            verdict=maybe(text("up")),
            holds=many(free()),
            dependencies=many(free()),
            incident=maybe(free()),
            lastResults=many(free()),
            told=many(free()),
            notTold={},
        ),
    ),
    "GET /v1/monitors/{id}/results": Operation(
        summary="List results, newest first",
        answer=record(data=many(ref("Result")), meta=_RESULTS_META),
        query=(
            *SPAN,
            query("location", text(), "Only those from there"),
            query("status", choice("up", "down", "unknown"), "Only those that came out so"),
            query("limit", whole(100, minimum=1), "How many; more than 1000 is taken for 1000"),
            query("cursor", text(), "meta.next of the page before"),
        ),
    ),
    "GET /v1/monitors/{id}/stats": Operation(
        summary="Numbers over time, for a chart",
        answer=record(
            data=many(ref("Point")),
            locations=many(record(location=text("local"), data=many(ref("Point")))),
            total=ref("Point"),
            meta=free({"step": 3600}),
        ),
        query=(
            *SPAN,
            query("step", text(), "As 5m, 1h, 1d, or a number of seconds"),
            query("location", text(), "Only that one"),
        ),
    ),
    "POST /v1/monitors/{id}/pause": Operation(
        summary="Pause: no checks until the resume",
        answer=record(id=id_("mon"), status=choice("paused"), pausedAt=moment()),
    ),
    "POST /v1/monitors/{id}/resume": Operation(
        summary="Resume, and check at once",
        answer=record(id=id_("mon"), status=_STATUS, resumedAt=moment()),
    ),
    "POST /v1/monitors/{id}/silence": Operation(
        summary="Tell nobody for a time",
        answer=warned(record(silencedUntil=moment(), reason=maybe(text("works")))),
        body=request(Silence, "SilenceMonitorRequest"),
        example={"duration": 3600, "reason": "works"},
    ),
    "DELETE /v1/monitors/{id}/silence": Operation(summary="End the silence", status=204),
}
