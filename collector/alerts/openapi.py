"""Alert rules and the alerts that they fire."""

from collector.alerts.core.rule_fields import Conditions, Escalation, RuleSettings
from collector.http.openapi.models import Schema, request
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    choice,
    flag,
    id_,
    listing,
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

TAG = "Alerts"
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
SCHEMAS: dict[str, Schema] = {
    "Rule": warned(
        record(
            id=id_("rule"),
            name=text("Shop is slow"),
            enabled=flag(),
            conditions=request(Conditions, "AlertConditions"),
            channels=many(id_("chan")),
            monitors=many(id_("mon")),
            tags={"anyOf": [mapping(text()), many(text())]},
            notifyOnRecovery=flag(),
            repeatMinutes=maybe(whole(30)),
            escalationPolicy=maybe(request(Escalation, "EscalationPolicy")),
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
_NAMES = ((Conditions, "AlertConditions"), (Escalation, "EscalationPolicy"))
_UPDATE = request(RuleSettings, "UpdateAlertRuleRequest", deep=True, names=_NAMES)

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
        body=request(RuleSettings, "CreateAlertRuleRequest", names=_NAMES),
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
        body=_UPDATE,
        example={"conditions": {"latencyThresholdMs": 800}},
        needs_body=False,
    ),
    "GET /v1/alert-rules/{id}": Operation(summary="Read a rule", answer=ref("Rule"), tagged=True),
    "PUT /v1/alert-rules/{id}": Operation(
        summary="Change what is sent; conditions and escalationPolicy are JSON merge patches",
        answer=ref("Rule"),
        body=_UPDATE,
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
}
