"""Fields of an alert rule as callers set them, with bounds and defaults."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from collector.platform.fields import Tag
from collector.platform.monitor import MonitorId, Tags, has_ink
from shared import ids
from shared.kinds.fields import ErrorText, NumericText

# A week: without an answer by then there will be none.
_LONGEST_MIN = 10_080


def is_channel_id(text: str) -> bool:
    return ids.read("chan", text) is not None


ChannelId = Annotated[str, Predicate(is_channel_id), ErrorText("must be the id of an alert channel")]
ChannelIds = Annotated[list[ChannelId], MaxLen(100)]
Minutes = Annotated[int, Interval(ge=1, le=_LONGEST_MIN), NumericText()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Conditions at which the rule fires. Without any it fires when the monitor goes down."""

    consecutive_failures: Annotated[int, Interval(ge=1, le=1000), NumericText()] | None = None
    """Failed checks in a row from which the rule fires."""
    locations: Literal["quorum", "any"] = "quorum"
    """Whether `consecutiveFailures` counts for a quorum of locations or for any one."""
    latency_threshold_ms: Annotated[int, Interval(ge=1, le=120_000), NumericText()] | None = None
    """Response time in milliseconds; the rule fires when as many checks in a row are slower as
    `consecutiveFailures` says, or the monitor's failure threshold.
    """
    status_code: Annotated[int, Interval(ge=100, le=599), NumericText()] | None = None
    """HTTP status; the rule fires when as many checks in a row answer with it as `consecutiveFailures` says,
    or the monitor's failure threshold.
    """
    error_rate_percent: Annotated[float, Interval(gt=0, le=100)] | None = None
    """Share of failed checks within the window, in percent, from which the rule fires."""
    window_minutes: Annotated[int, Interval(ge=1, le=1440), NumericText()] = 5
    """Length in minutes of the window that `errorRatePercent` is taken over."""
    availability: Annotated[float, Interval(gt=0, le=100)] | None = None
    """Uptime of the last 24 hours, in percent, below which the rule fires."""
    match: Literal["any", "all"] = "any"
    """Whether `any` or `all` of the conditions must hold."""

    @property
    def plain(self) -> bool:
        """Whether it concerns only failed checks."""
        return (
            self.latency_threshold_ms is None
            and self.status_code is None
            and self.error_rate_percent is None
            and self.availability is None
        )

    @property
    def empty(self) -> bool:
        return self.plain and self.consecutive_failures is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """An escalation policy; step k is taken *delay_minutes* times k after the first notification."""

    delay_minutes: Minutes
    """Minutes between two steps; the first step follows as long after the first notification."""
    escalate_to_channels: ChannelIds
    """Ids of the alert channels that a step notifies."""
    max_escalations: Annotated[int, Interval(ge=1, le=10), NumericText()] = 1
    """Number of steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """Settings of a rule; without *monitors* and *tags* it watches every monitor of the team."""

    name: Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), ErrorText("must not be blank")]
    """Name of the rule, 1 to 255 characters."""
    enabled: bool = True
    """Whether the rule fires alerts."""
    conditions: Conditions = field(default_factory=Conditions)
    """Conditions at which it fires; without any, when the monitor goes down."""
    channels: ChannelIds = field(default_factory=list)
    """Ids of the alert channels that it notifies."""
    monitors: Annotated[list[MonitorId], MaxLen(10_000)] = field(default_factory=list)
    """Ids of the monitors that it watches; without these and `tags`, all of the team."""
    tags: Annotated[
        Tags | Annotated[list[Tag], MaxLen(100)],
        ErrorText("must be an object, or a list of name or name:value"),
    ] = field(default_factory=dict)
    """Tags of the monitors that it watches: values by name, or a list of `name` and `name:value`."""
    notify_on_recovery: bool = True
    """Whether the end of an alert is also notified."""
    repeat_minutes: Minutes | None = None
    """Minutes between reminders while an alert fires; without it no reminders."""
    escalation_policy: Escalation | None = None
    """Channels that are notified later, until a user acknowledges; without it none."""
