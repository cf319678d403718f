"""What a caller may say of an alert rule, with bounds and defaults."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from collector.platform.monitor import MonitorId, Tags, has_ink
from shared import ids
from shared.kinds.fields import NumericText, Says

# A week: whoever has not answered by then will not.
_LONGEST_MIN = 10_080


def is_channel_id(text: str) -> bool:
    return ids.read("chan", text) is not None


def is_tag(text: str) -> bool:
    return 0 < len(text.partition(":")[0]) <= 64 and len(text) <= 320


ChannelId = Annotated[str, Predicate(is_channel_id), Says("must be the id of an alert channel")]
ChannelIds = Annotated[list[ChannelId], MaxLen(100)]
Tag = Annotated[str, Predicate(is_tag), Says("must be the name of a tag, or name:value")]
Minutes = Annotated[int, Interval(ge=1, le=_LONGEST_MIN), NumericText()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Reasons to alert. Without any the rule fires when the monitor goes down."""

    consecutive_failures: Annotated[int, Interval(ge=1, le=1000), NumericText()] | None = None
    locations: Literal["quorum", "any"] = "quorum"
    latency_threshold_ms: Annotated[int, Interval(ge=1, le=120_000), NumericText()] | None = None
    status_code: Annotated[int, Interval(ge=100, le=599), NumericText()] | None = None
    error_rate_percent: Annotated[float, Interval(gt=0, le=100)] | None = None
    window_minutes: Annotated[int, Interval(ge=1, le=1440), NumericText()] = 5
    availability: Annotated[float, Interval(gt=0, le=100)] | None = None
    match: Literal["any", "all"] = "any"

    @property
    def plain(self) -> bool:
        """Is it about nothing but that checks fail?"""
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
    """Step k is taken *delay_minutes* times k after the first notification."""

    delay_minutes: Minutes
    escalate_to_channels: ChannelIds
    max_escalations: Annotated[int, Interval(ge=1, le=10), NumericText()] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """Neither *monitors* nor *tags*: every monitor of the team."""

    name: Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), Says("must not be blank")]
    enabled: bool = True
    conditions: Conditions = field(default_factory=Conditions)
    channels: ChannelIds = field(default_factory=list)
    monitors: Annotated[list[MonitorId], MaxLen(10_000)] = field(default_factory=list)
    tags: Annotated[
        Tags | Annotated[list[Tag], MaxLen(100)], Says("must be an object, or a list of name or name:value")
    ] = field(default_factory=dict)
    notify_on_recovery: bool = True
    repeat_minutes: Minutes | None = None
    escalation_policy: Escalation | None = None
