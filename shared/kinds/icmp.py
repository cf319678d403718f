"""Does a host answer echo requests (ping)?"""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from shared.kinds.fields import HostName


@dataclass(frozen=True, slots=True, kw_only=True)
class Icmp:
    """*packet_size* is in bytes, without headers; down when more than *max_loss_percent* get no answer."""

    host: HostName
    count: Annotated[int, Interval(ge=1, le=20)] = 3
    packet_size: Annotated[int, Interval(ge=8, le=65_000)] = 56
    max_loss_percent: Annotated[int, Interval(ge=0, le=99)] = 99
    ip_version: Literal["4", "6", "any"] = "any"
