"""Responses of the API about series of metrics."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from collector.platform.answers import Example


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesAnswer:
    """The latest value of a series."""

    metric: Annotated[str, Example("up")] | None
    """Name of the metric."""
    labels: dict[str, Annotated[str, Example("node")]]
    """Its labels by name."""
    value: Annotated[float, Example(1.5)] | Literal["NaN", "+Inf", "-Inf"] | None
    """The value; a text if JSON cannot represent it as a number."""
    timestamp: datetime
    """Time of the measurement, according to the sender."""
    stale: Annotated[bool, Example(False)]
    """Whether the sender marked the series as ended."""
    received_at: datetime
    """Time of receipt."""
