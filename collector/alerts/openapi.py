"""Alert rules and the alerts that they fire."""

from collector.alerts import answers
from collector.alerts.core.rule_fields import Conditions, Escalation, RuleSettings
from collector.alerts.core.status import AlertStatus
from collector.http.openapi.models import answer, request
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    choice,
    flag,
    id_,
    listing,
    moment,
    page,
    query,
)

TAG = "Alerts"
_NAMES = ((Conditions, "AlertConditions"), (Escalation, "EscalationPolicy"))
_RULE = answer(answers.RuleAnswer, "AlertRule", _NAMES)
ALERT = answer(answers.AlertAnswer, "Alert")
_UPDATE = request(RuleSettings, "UpdateAlertRuleRequest", deep=True, names=_NAMES)

OPERATIONS: dict[str, Operation] = {
    "GET /v1/alert-rules": Operation(
        summary="List rules",
        answer=listing(_RULE),
        query=(
            query("enabled", flag(), "Only those that are, or are not"),
            query("monitor_id", id_("mon"), "Only those that are for this monitor"),
            *PAGED,
        ),
    ),
    "POST /v1/alert-rules": Operation(
        summary="Create a rule; without conditions it fires when a monitor goes down",
        status=201,
        answer=answer(answers.CreatedRule, "CreatedAlertRule"),
        body=request(RuleSettings, "CreateAlertRuleRequest", names=_NAMES),
        example={"name": "Shop is slow", "conditions": {"latencyThresholdMs": 800}},
    ),
    "POST /v1/alert-rules/preview": Operation(
        summary="Preview what a rule would have done over the last 7 days",
        answer=answer(answers.RulePreview, "AlertRulePreview"),
        body=_UPDATE,
        example={"conditions": {"latencyThresholdMs": 800}},
        needs_body=False,
    ),
    "GET /v1/alert-rules/{id}": Operation(summary="Read a rule", answer=_RULE, tagged=True),
    "PUT /v1/alert-rules/{id}": Operation(
        summary="Update the fields that are sent; conditions and escalationPolicy are JSON merge patches",
        answer=_RULE,
        body=_UPDATE,
        example={"enabled": False},
        tagged=True,
        needs_body=False,
    ),
    "DELETE /v1/alert-rules/{id}": Operation(
        summary="Delete a rule and end its alerts", status=204, tagged=True
    ),
    "GET /v1/alerts": Operation(
        summary="List alerts, newest first",
        answer=page(ALERT),
        query=(
            query("status", choice(*AlertStatus), "Only those that stand so"),
            query("rule_id", id_("rule"), "Only those of this rule"),
            query("monitor_id", id_("mon"), "Only those of this monitor"),
            query("from", moment(), "Fired then or later"),
            query("to", moment(), "Fired then or earlier"),
            *PAGED,
        ),
    ),
    "GET /v1/alerts/{id}": Operation(summary="Read an alert", answer=ALERT),
    "POST /v1/alerts/{id}/acknowledge": Operation(
        summary="Acknowledge an alert without an incident: reminders and escalation stop",
        answer=ALERT,
    ),
    "POST /v1/alerts/{id}/resolve": Operation(summary="Resolve an alert without an incident", answer=ALERT),
}
