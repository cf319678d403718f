"""Events: posted to webhooks, and streamed to followers."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from collector import event_payloads as payloads
from collector import event_payloads_web3 as payloads_web3
from collector.events.core import events
from collector.http.openapi.models import Named, Schema, answer
from collector.http.openapi.parts import Operation, one_of, query, text

TAG = "Events"
TEST: Final = "test"
PAYLOADS: Final[Mapping[str, type]] = {
    events.DOWN: payloads.MonitorDownEvent,
    events.UP: payloads.MonitorUpEvent,
    **dict.fromkeys(sorted(events.CHANGES), payloads.MonitorChangeEvent),
    events.DEGRADED: payloads.MonitorDegradedEvent,
    events.FLAPPING: payloads.MonitorFlappingEvent,
    events.UNMEASURED: payloads.MonitorUnmeasuredEvent,
    events.MEASURED: payloads.MonitorMeasuredEvent,
    **dict.fromkeys(sorted(events.INCIDENTS), payloads.IncidentEvent),
    events.ALERT_FIRED: payloads.AlertEvent,
    events.ALERT_RECOVERED: payloads.AlertEvent,
    events.ALERT_ESCALATED: payloads.AlertEvent,
    events.CERTIFICATE_EXPIRING: payloads.CertificateExpiringEvent,
    events.PROBE_OFFLINE: payloads.ProbeOfflineEvent,
    events.PROBE_ONLINE: payloads.ProbeOnlineEvent,
    events.CHANNEL_FAILING: payloads.ChannelEvent,
    events.CHANNEL_RECOVERED: payloads.ChannelEvent,
    events.MAINTENANCE_STARTED: payloads.MaintenanceEvent,
    events.MAINTENANCE_ENDED: payloads.MaintenanceEvent,
    events.PAGE_PUBLISHED: payloads.PageIncidentEvent,
    events.PAGE_UPDATED: payloads.PageIncidentEvent,
    events.WEB3_GAS: payloads_web3.GasEvent,
    events.WEB3_ALERT: payloads_web3.ChainAlertEvent,
    events.WEB3_EVENT: payloads_web3.ChainLogEvent,
    TEST: payloads.TestEvent,
}


def _named(cls: type) -> Named:
    kinds = [kind for kind, one in PAYLOADS.items() if one is cls]
    return Named(cls.__name__, partial(_with_kind, answer(cls, cls.__name__), kinds))


def _with_kind(plain: Named, kinds: list[str]) -> Schema:
    made = plain.make()
    kind = {"type": "string", "enum": kinds, "examples": kinds[:1], "description": "Kind of the event."}
    return {
        **made,
        "properties": {"event": kind, **made["properties"]},
        "required": ["event", *made["required"]],
    }


_SCHEMAS: Final = {cls: _named(cls) for cls in PAYLOADS.values()}
EVENT: Final = one_of(
    "Event",
    "event",
    {kind: _SCHEMAS[cls] for kind, cls in PAYLOADS.items()},
    "What happened: `event` says what kind.",
)
_HEADERS: Final = {
    "X-Service-Event": "Kind of the event.",
    "X-Service-Delivery": "Id of the delivery.",
    "webhook-id": "Id of the event.",
    "webhook-timestamp": "When the attempt was made: Unix time in seconds.",
    "webhook-signature": "Signatures as Standard Webhooks has them; there where the channel has a secret.",
}


def webhooks() -> dict[str, Any]:
    """The payloads of webhook channels, by event kind."""
    return {
        kind: {"post": _webhook(kind, cls)} for kind, cls in PAYLOADS.items() if kind not in events.CHANGES
    }


def _webhook(kind: str, cls: type) -> dict[str, Any]:
    about = (cls.__doc__ or "").strip()
    return {
        "operationId": "on" + "".join(word.capitalize() for word in kind.replace("_", ".").split(".")),
        "summary": about,
        "description": "Sent to webhook channels that ask for it. Any status from 200 to 299 is success.",
        "tags": [TAG],
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "description": said, "schema": {"type": "string"}}
            for name, said in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _SCHEMAS[cls]}}},
        "responses": {
            "2XX": {"description": "It was received."},
            "4XX": {"description": "It was refused, and is sent again later."},
        },
    }


OPERATIONS: dict[str, Operation] = {
    "GET /v1/events": Operation(
        summary="Stream events as server-sent events",
        media="text/event-stream",
        answer={
            "type": "string",
            "description": "Server-sent events: `event` is the kind, `data` the event as JSON.",
            "contentMediaType": "application/json",
            "contentSchema": EVENT,
        },
        headers={
            "Cache-Control": "Nobody may keep it",
            "X-Accel-Buffering": "Proxies are to pass each event on at once",
        },
        query=(
            query("kind", text(), "Only these kinds, with commas between them"),
            query("monitor_id", text(), "Only of these monitors, with commas between them"),
            query("lastEventId", text(), "Go on after this event"),
        ),
        more={409: "The team follows as many streams already as its plan allows"},
    ),
}
