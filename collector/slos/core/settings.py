"""Fields of an SLO as callers set them, with bounds and defaults."""

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from collector.platform.fields import Tag
from collector.platform.monitor import MonitorId, Tags, has_ink
from collector.platform.time_zones import TimeZone
from shared.kinds.fields import ErrorText, NumericText

IndicatorType = Literal["availability", "latency", "checks"]
Period = Literal["7d", "28d", "30d", "90d", "month", "quarter", "year"]
Combine = Literal["any", "each"]
MOST_MONITORS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Indicator:
    """What is good: time without an outage, fast checks, or good checks."""

    type: IndicatorType = "availability"
    """`availability`: known time without an outage, as uptime; `latency`: checks that are good and at most as
    slow as `thresholdMs`; `checks`: good checks. Both count scheduled checks that are not unknown.
    """
    threshold_ms: Annotated[int, Interval(ge=1, le=120_000), NumericText()] | None = None
    """Longest response time of a good check in milliseconds; for `latency` only. Counted to the end of its
    bucket, at most 4 % above; see `countedThresholdMs`.
    """

    def faults(self) -> dict[str, str]:
        if self.type == "latency" and self.threshold_ms is None:
            return {"thresholdMs": "Threshold ms is required for latency"}
        if self.type != "latency" and self.threshold_ms is not None:
            return {"thresholdMs": "is for latency only"}
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SloSettings:
    """Settings of a service level objective."""

    name: Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), ErrorText("must not be blank")]
    """Name of the SLO, 1 to 255 characters."""
    description: Annotated[str, MaxLen(10_000)] = ""
    """Human-readable description."""
    target: Annotated[float, Interval(gt=0, le=99.9999)]
    """Share of time or checks that must be good, in percent."""
    period: Period = "30d"
    """Days of a rolling period, or a calendar period of `timezone`."""
    timezone: TimeZone = "UTC"
    """IANA time zone in which a calendar period begins."""
    indicator: Indicator = field(default_factory=Indicator)
    """What is good."""
    monitors: Annotated[list[MonitorId], MaxLen(MOST_MONITORS)] = field(default_factory=list)
    """Ids of its monitors."""
    groups: Annotated[list[Annotated[str, MinLen(1), MaxLen(255)]], MaxLen(100)] = field(default_factory=list)
    """Groups of its monitors."""
    tags: Annotated[
        Tags | Annotated[list[Tag], MaxLen(100)],
        ErrorText("must be an object, or a list of name or name:value"),
    ] = field(default_factory=dict)
    """Tags of its monitors: values by name, or a list of `name` and `name:value`."""
    combine: Combine = "any"
    """`any`: the service is down when one of its monitors is; `each`: the target holds for each monitor."""

    def faults(self) -> dict[str, str]:
        named = self.monitors or self.groups or self.tags
        return {} if named else {"monitors": "name monitors, groups or tags"}
