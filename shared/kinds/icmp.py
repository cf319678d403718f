"""Does a host answer echo requests (ping)?"""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from shared.kinds.fields import HostName


@dataclass(frozen=True, slots=True, kw_only=True)
class Icmp:
    """*packet_size* is in bytes, without headers; down when more than *max_loss_percent* get no answer."""

    host: HostName
    """Host name or IP address that is checked."""
    count: Annotated[int, Interval(ge=1, le=20)] = 3
    """Number of packets that are sent."""
    packet_size: Annotated[int, Interval(ge=8, le=65_000)] = 56
    """Bytes of data in each packet, without headers."""
    max_loss_percent: Annotated[int, Interval(ge=0, le=99)] = 99
    """Highest packet loss, in percent, that still counts as up."""
    ip_version: Literal["4", "6", "any"] = "any"
    """IP version of the connection; `any` uses whichever answers."""
