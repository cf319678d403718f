"""Events: posted to webhooks, and streamed to followers."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from collector.events.core import payloads
from collector.events.core.kinds import CHANGES, INCIDENTS, EventKind
from collector.http.openapi.models import Named, Schema, answer
from collector.http.openapi.parts import Operation, one_of, query, text
from collector.incidents.core.payloads import IncidentEvent
from collector.status_pages.core.payloads import PageIncidentEvent
from collector.web3.core import payloads as payloads_web3

TAG = "Events"
PAYLOADS: Final[Mapping[EventKind, type]] = {
    EventKind.MONITOR_DOWN: payloads.MonitorDownEvent,
    EventKind.MONITOR_UP: payloads.MonitorUpEvent,
    **dict.fromkeys(sorted(CHANGES), payloads.MonitorChangeEvent),
    EventKind.MONITOR_DEGRADED: payloads.MonitorDegradedEvent,
    EventKind.MONITOR_FLAPPING: payloads.MonitorFlappingEvent,
    EventKind.MONITOR_UNMEASURED: payloads.MonitorUnmeasuredEvent,
    EventKind.MONITOR_MEASURED: payloads.MonitorMeasuredEvent,
    **dict.fromkeys(sorted(INCIDENTS), IncidentEvent),
    EventKind.ALERT_FIRED: payloads.AlertEvent,
    EventKind.ALERT_RECOVERED: payloads.AlertEvent,
    EventKind.ALERT_ESCALATED: payloads.AlertEvent,
    EventKind.CERTIFICATE_EXPIRING: payloads.CertificateExpiringEvent,
    EventKind.PROBE_OFFLINE: payloads.ProbeOfflineEvent,
    EventKind.PROBE_ONLINE: payloads.ProbeOnlineEvent,
    EventKind.CHANNEL_FAILING: payloads.ChannelEvent,
    EventKind.CHANNEL_RECOVERED: payloads.ChannelEvent,
    EventKind.MAINTENANCE_STARTED: payloads.MaintenanceEvent,
    EventKind.MAINTENANCE_ENDED: payloads.MaintenanceEvent,
    EventKind.PAGE_PUBLISHED: PageIncidentEvent,
    EventKind.PAGE_UPDATED: PageIncidentEvent,
    EventKind.WEB3_GAS: payloads_web3.GasEvent,
    EventKind.WEB3_ALERT: payloads_web3.ChainAlertEvent,
    EventKind.WEB3_EVENT: payloads_web3.ChainLogEvent,
    EventKind.TEST: payloads.TestEvent,
}

_ENVELOPE: Final = answer(payloads.EventEnvelope, "EventEnvelope")


def _named(cls: type) -> Named:
    kinds = [kind.value for kind, payload in PAYLOADS.items() if payload is cls]
    return Named(cls.__name__, partial(_with_kind, answer(cls, cls.__name__), kinds))


def _with_kind(plain: Named, kinds: list[str]) -> Schema:
    made, envelope = plain.make(), _ENVELOPE.make()
    kind = {"type": "string", "enum": kinds, "examples": kinds[:1], "description": "Kind of the event."}
    return {
        **made,
        "properties": {**made["properties"], "event": kind, **envelope["properties"]},
        "required": [*made["required"], *envelope["required"]],
    }


_SCHEMAS: Final = {cls: _named(cls) for cls in PAYLOADS.values()}
EVENT: Final = one_of(
    "Event",
    "event",
    {kind.value: _SCHEMAS[cls] for kind, cls in PAYLOADS.items()},
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
        kind.value: {"post": _webhook(kind, cls)} for kind, cls in PAYLOADS.items() if kind not in CHANGES
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
            {"name": name, "in": "header", "description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS.items()
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
