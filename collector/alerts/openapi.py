"""Alert rules and alerts, channels and what was sent through them; maintenance windows."""

from collector.alerts.core.rule_fields import Conditions, Escalation, RuleSettings
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    Schema,
    choice,
    choices,
    flag,
    free,
    id_,
    listing,
    many,
    mapping,
    maybe,
    model,
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
from collector.notifications.channels import CHANNELS
from collector.notifications.service.fields import ChannelSettings

TAG = "Alerting"
_TYPE = choice(*CHANNELS)
_CHANNEL = warned(
    record(
        id=id_("chan"),
        name=text("ops"),
        type=_TYPE,
        enabled=flag(),
        config=free({"url": "https://hooks.example.com/tocsin"}),
        revision=whole(1),
        createdAt=moment(),
        updatedAt=moment(),
    )
)
_ATTEMPT = record(
    at=moment(), statusCode=maybe(whole(200)), latencyMs=maybe(whole(52)), error=maybe(text("answered 500"))
)
_BY = record(id=maybe(id_("usr")), name=text("Somebody"))
_WOULD = record(
    monitorId=id_("mon"),
    monitorName=text("shop"),
    reason=text("latencyThresholdMs"),
    value=maybe({"type": "number"}),
    threshold=maybe({"type": "number"}),
    firedAt=moment(),
    recoveredAt=maybe(moment()),
    notifications=whole(2),
    escalations=whole(0),
)
_SPAN = record(start=moment(), end=moment())
SCHEMAS: dict[str, Schema] = {
    "Channel": _CHANNEL,
    "Delivery": record(
        id=id_("dlv"),
        event=text("monitor.down"),
        eventId=id_("evt"),
        status=choice("pending", "delivered", "failed"),
        createdAt=moment(),
        nextAttemptAt=maybe(moment()),
        attempts=many(_ATTEMPT),
    ),
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
    "Rule": warned(
        record(
            id=id_("rule"),
            name=text("Shop is slow"),
            enabled=flag(),
            conditions=model(Conditions),
            channels=many(id_("chan")),
            monitors=many(id_("mon")),
            tags={"anyOf": [mapping(text()), many(text())]},
            notifyOnRecovery=flag(),
            repeatMinutes=maybe(whole(30)),
            escalationPolicy=maybe(model(Escalation)),
            revision=whole(1),
            createdAt=moment(),
            updatedAt=moment(),
        )
    ),
    "Alert": record(
        id=id_("alert"),
        ruleId=id_("rule"),
        ruleName=text("Shop is slow"),
        monitorId=id_("mon"),
        monitorName=text("shop"),
        status=choice("firing", "acknowledged", "recovered"),
        reason=text("latencyThresholdMs"),
        value=maybe({"type": "number"}),
        threshold=maybe({"type": "number"}),
        firedAt=moment(),
        notifiedAt=maybe(moment()),
        acknowledgedAt=maybe(moment()),
        acknowledgedBy=maybe(_BY),
        recoveredAt=maybe(moment()),
        recoveredBy=maybe(_BY),
        escalations=whole(0),
        incidentId=maybe(id_("inc")),
    ),
}
_SETTINGS = model(ChannelSettings)
_NEW = {
    **_SETTINGS,
    "properties": {**_SETTINGS["properties"], "type": _TYPE, "config": choices(CHANNELS)},
    "required": ["name", "type", "config"],
}
_CHANGES = model(ChannelSettings, partial=True)
_CHANGES["properties"] = {**_CHANGES["properties"], "config": {"type": "object"}}
_WINDOW = {
    "name": "Database upgrade",
    "all": True,
    "start": "2026-12-01T02:00:00Z",
    "duration": 7200,
}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/alert-rules": Operation(
        summary="List rules",
        answer=listing(ref("Rule")),
        query=(
            query("enabled", flag(), "Only those that are, or are not"),
            query("monitor_id", id_("mon"), "Only those that are for this monitor"),
            *PAGED,
        ),
    ),
    "POST /v1/alert-rules": Operation(
        summary="Make a rule; without conditions it fires when a monitor goes down",
        status=201,
        answer=warned(record(id=id_("rule"), name=text("Shop is slow"), enabled=flag(), createdAt=moment())),
        body=model(RuleSettings),
        example={"name": "Shop is slow", "conditions": {"latencyThresholdMs": 800}},
    ),
    "POST /v1/alert-rules/preview": Operation(
        summary="What such a rule would have done over the last 7 days",
        answer=warned(
            record(
                **{"from": moment(), "to": moment()},
                monitors=whole(1),
                alerts=many(_WOULD),
                notifications=whole(2),
                escalations=whole(0),
            )
        ),
        body=model(RuleSettings, partial=True),
        example={"conditions": {"latencyThresholdMs": 800}},
        needs_body=False,
    ),
    "GET /v1/alert-rules/{id}": Operation(summary="Read a rule", answer=ref("Rule"), tagged=True),
    "PUT /v1/alert-rules/{id}": Operation(
        summary="Change what is sent; conditions and escalationPolicy are JSON merge patches",
        answer=ref("Rule"),
        body=model(RuleSettings, partial=True),
        example={"enabled": False},
        tagged=True,
        needs_body=False,
    ),
    "DELETE /v1/alert-rules/{id}": Operation(
        summary="Delete a rule; its alerts are over", status=204, tagged=True
    ),
    "GET /v1/alerts": Operation(
        summary="List alerts, newest first",
        answer=page(ref("Alert")),
        query=(
            query("status", choice("firing", "acknowledged", "recovered"), "Only those that stand so"),
            query("rule_id", id_("rule"), "Only those of this rule"),
            query("monitor_id", id_("mon"), "Only those of this monitor"),
            query("from", moment(), "Fired then or later"),
            query("to", moment(), "Fired then or earlier"),
            *PAGED,
        ),
    ),
    "GET /v1/alerts/{id}": Operation(summary="Read an alert", answer=ref("Alert")),
    "POST /v1/alerts/{id}/acknowledge": Operation(
        summary="Take on an alert that has no incident: no reminder or escalation follows",
        answer=ref("Alert"),
    ),
    "POST /v1/alerts/{id}/resolve": Operation(
        summary="End an alert that has no incident", answer=ref("Alert")
    ),
    "GET /v1/alert-channels": Operation(
        summary="List channels",
        answer=listing(ref("Channel")),
        query=(query("type", _TYPE, "Only those of this type"), *PAGED),
    ),
    "POST /v1/alert-channels": Operation(
        summary="Make a channel",
        status=201,
        answer=warned(record(id=id_("chan"), name=text("ops"), type=_TYPE, enabled=flag())),
        body=_NEW,
        example={"name": "ops", "type": "webhook", "config": {"url": "https://hooks.example.com/tocsin"}},
    ),
    "GET /v1/alert-channels/{id}": Operation(
        summary="Read a channel; its secrets are masked for read-only tokens",
        answer=ref("Channel"),
        tagged=True,
    ),
    "PUT /v1/alert-channels/{id}": Operation(
        summary="Change what is sent; config is a JSON merge patch",
        answer=ref("Channel"),
        body=_CHANGES,
        example={"enabled": False},
        tagged=True,
        needs_body=False,
    ),
    "DELETE /v1/alert-channels/{id}": Operation(summary="Delete a channel", status=204, tagged=True),
    "POST /v1/alert-channels/{id}/test": Operation(
        summary="Send a message that says that it is a test",
        answer=record(success=flag(), message=text("answered 200"), deliveredAt=maybe(moment())),
    ),
    "GET /v1/alert-channels/{id}/deliveries": Operation(
        summary="What was sent through it, and each try", answer=page(ref("Delivery")), query=PAGED
    ),
    "POST /v1/deliveries/{id}/redeliver": Operation(summary="Send it once more", answer=ref("Delivery")),
    "GET /v1/maintenance-windows": Operation(
        summary="List maintenance windows",
        answer=page(ref("MaintenanceWindow")),
        query=(query("status", text(), "Only those that stand so"), *PAGED),
    ),
    "POST /v1/maintenance-windows": Operation(
        summary="Plan maintenance, once or again and again",
        status=201,
        answer=ref("MaintenanceWindow"),
        body=model(Fields),
        example=_WINDOW,
    ),
    "GET /v1/maintenance-windows/{id}": Operation(
        summary="Read a maintenance window", answer=ref("MaintenanceWindow"), tagged=True
    ),
    "PUT /v1/maintenance-windows/{id}": Operation(
        summary="Change what is sent",
        answer=ref("MaintenanceWindow"),
        body=model(Fields, partial=True),
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
