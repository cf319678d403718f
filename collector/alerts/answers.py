"""Responses of the API about alert rules and alerts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.alerts.core.rule_fields import Conditions, Escalation
from collector.alerts.core.status import AlertStatus
from collector.platform.answers import (
    AlertId,
    ChannelId,
    Example,
    IncidentId,
    MonitorId,
    Person,
    Revision,
    RuleId,
    Warnings,
)

RuleName = Annotated[str, Example("Shop is slow")]
MonitorName = Annotated[str, Example("shop")]
Reason = Annotated[str, Example("latencyThresholdMs")]
Value = Annotated[float, Example(912)]
Threshold = Annotated[float, Example(800)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleAnswer:
    """A rule that says when alerts fire and who is notified."""

    id: RuleId
    """Id of the rule."""
    name: RuleName
    """Name of the rule."""
    enabled: bool
    """Whether it fires alerts."""
    conditions: Conditions
    """Conditions at which it fires; without any, when the monitor goes down."""
    channels: list[ChannelId]
    """Ids of the alert channels that it notifies."""
    monitors: list[MonitorId]
    """Ids of the monitors that it watches; without these and `tags`, all of the team."""
    tags: dict[str, str] | list[str]
    """Tags of the monitors that it watches."""
    notify_on_recovery: bool
    """Whether the end of an alert is also notified."""
    repeat_minutes: Annotated[int, Example(30)] | None
    """Minutes between reminders while an alert fires; null: no reminders."""
    escalation_policy: Escalation | None
    """Channels that are notified later, until a user acknowledges."""
    revision: Revision
    """Number of its present version, as in the ETag."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    warnings: Warnings = None
    """What was ignored of the request, and warnings about the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedRule:
    """A rule that was created."""

    id: RuleId
    """Id of the rule."""
    name: RuleName
    """Name of the rule."""
    enabled: bool
    """Whether it fires alerts."""
    created_at: datetime
    """When it was created."""
    warnings: Warnings = None
    """What was ignored of the request, and warnings about the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertAnswer:
    """An alert that a rule fired for a monitor."""

    id: AlertId
    """Id of the alert."""
    rule_id: RuleId
    """Id of the rule."""
    rule_name: RuleName
    """Name of the rule."""
    monitor_id: MonitorId
    """Id of the monitor."""
    monitor_name: MonitorName
    """Name of the monitor."""
    status: AlertStatus
    """Whether it fires, is acknowledged (no reminder follows) or has recovered."""
    reason: Reason
    """Condition that held, or the type of a threshold on a chain."""
    value: Value | None
    """Measured value; null for a condition without one."""
    threshold: Threshold | None
    """Limit in the rule; null for a condition without one."""
    fired_at: datetime
    """When it fired."""
    notified_at: datetime | None
    """When it was first notified; null before that."""
    acknowledged_at: datetime | None
    """When it was acknowledged."""
    acknowledged_by: Person | None
    """Who acknowledged it."""
    recovered_at: datetime | None
    """When it ended."""
    recovered_by: Person | None
    """Who ended it; null if it recovered by itself."""
    escalations: Annotated[int, Example(0)]
    """Steps of the escalation that were taken."""
    incident_id: IncidentId | None
    """Id of the incident that it belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedAlert:
    """An alert that a rule would have fired."""

    monitor_id: MonitorId
    """Id of the monitor."""
    monitor_name: MonitorName
    """Name of the monitor."""
    reason: Reason
    """Condition that held."""
    value: Value | None
    """Measured value; null for a condition without one."""
    threshold: Threshold | None
    """Limit in the rule; null for a condition without one."""
    fired_at: datetime
    """When it would have fired."""
    recovered_at: datetime | None
    """When it would have ended; null if it would still fire."""
    notifications: Annotated[int, Example(2)]
    """Number of notifications, reminders included."""
    escalations: Annotated[int, Example(0)]
    """Steps of the escalation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePreview:
    """The alerts that a rule would have fired."""

    from_: datetime
    """First moment of the span."""
    to: datetime
    """Last moment of the span."""
    monitors: Annotated[int, Example(1)]
    """Number of monitors that it would have watched."""
    alerts: list[PreviewedAlert]
    """Alerts that it would have fired."""
    notifications: Annotated[int, Example(2)]
    """Number of notifications of all these alerts."""
    escalations: Annotated[int, Example(0)]
    """Number of escalation steps of all these alerts."""
    warnings: Warnings = None
    """What was ignored of the request, and warnings about the rule."""
