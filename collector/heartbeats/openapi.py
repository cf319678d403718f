"""Heartbeats: jobs report by a ping that they ran."""

from collector.http.openapi.models import answer
from collector.http.openapi.parts import Operation, flag, named, query, record, text
from collector.monitors.answers import RotatedKey

TAG = "Heartbeats"
_TAKEN = named("TakenPing", record(ok={**flag(), "description": "Always true."}))
_NOT_KEPT = {"Cache-Control": "Nobody may keep it: each ping counts"}
_RID = query("rid", text(), "Pairs the end of a run with its start, whose time is the response time then")
_SIGN = query("sign", text(), "start, fail, log, or an exit status from 0 to 255; without it all went well")

OPERATIONS: dict[str, Operation] = {
    "GET /v1/ping/{key}": Operation(
        summary="Report that the job succeeded", answer=_TAKEN, query=(_RID,), headers=_NOT_KEPT
    ),
    "POST /v1/ping/{key}": Operation(
        summary="The same; the first 10 kB of the body are stored and shown with the result",
        answer=_TAKEN,
        query=(_RID,),
        headers=_NOT_KEPT,
    ),
    "GET /v1/ping/{key}/{sign}": Operation(
        summary="Report that the job started, failed, logged, or exited with this status",
        answer=_TAKEN,
        query=(_RID,),
        headers=_NOT_KEPT,
    ),
    "POST /v1/ping/{key}/{sign}": Operation(
        summary="The same; the first 10 kB of the body are stored and shown with the result",
        answer=_TAKEN,
        query=(_RID,),
        headers=_NOT_KEPT,
    ),
    "POST /v1/monitors/{id}/ping": Operation(
        summary="Ping a heartbeat with a token in place of its key",
        answer=_TAKEN,
        query=(_SIGN, _RID),
        headers=_NOT_KEPT,
    ),
    "POST /v1/monitors/{id}/rotate-key": Operation(
        summary="Replace the key of a heartbeat, or the token of a monitor that takes metrics",
        answer=answer(RotatedKey, "RotatedMonitorKey"),
    ),
}
