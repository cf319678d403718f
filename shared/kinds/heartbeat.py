"""Does a job that runs by itself say so in time?"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from annotated_types import Interval, MaxLen, Predicate

from shared.kinds.fields import Says, Secret

LONGEST_S: Final = 366 * 86_400
_PART = re.compile(r"(\d{1,8})\s*([smhdw])", re.IGNORECASE)
_WHOLE = re.compile(rf"(?:\s*{_PART.pattern})+\s*", re.IGNORECASE)
_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def seconds(spec: int | str) -> int:
    """``90``, ``"90"``, ``"15m"``, ``"1h 30m"`` -> seconds. Raises ValueError for anything else."""
    if isinstance(spec, int) or (spec.isascii() and spec.strip().isdigit() and len(spec) < 12):
        return int(spec)
    if not _WHOLE.fullmatch(spec):
        msg = f"not a duration: {spec!r}"
        raise ValueError(msg)
    return sum(int(count) * _UNITS[unit.lower()] for count, unit in _PART.findall(spec))


def _within(spec: int | str, least: int) -> bool:
    try:
        return least <= seconds(spec) <= LONGEST_S
    except ValueError:
        return False


def is_time(spec: int | str) -> bool:
    return _within(spec, 1)


def is_grace(spec: int | str) -> bool:
    return _within(spec, 0)


def is_zone(name: str) -> bool:
    """Is it a zone of the IANA database? Names that lead out of it are none."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True


Time = Annotated[
    Annotated[int, Interval(ge=1, le=LONGEST_S)] | Annotated[str, MaxLen(64)],
    Predicate(is_time),
    Says('must be 1 second to 366 days, in seconds (3600) or as "15m", "24h", "7d"'),
]
Grace = Annotated[
    Annotated[int, Interval(ge=0, le=LONGEST_S)] | Annotated[str, MaxLen(64)],
    Predicate(is_grace),
    Says('must be 0 seconds to 366 days, in seconds (60) or as "5m", "1h"'),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """A ping is awaited each *expected_interval*, or at the times of *cron*, the later by *grace_period*.

    *max_run_time*: so long after its start a run must have ended. *min_interval*: so far apart the pings that
    end one must be. *ping_key* is made by the service: who knows it may ping.
    """

    expected_interval: Time | None = None
    """Time between two pings, in seconds or as `5m`, `1h`; required unless `cron` is given."""
    cron: Annotated[str, MaxLen(255)] | None = None
    """Cron expression of the times at which a ping is expected; in place of `expectedInterval`."""
    timezone: Annotated[
        str, MaxLen(64), Predicate(is_zone), Says("must be a time zone, as Europe/Berlin")
    ] = "UTC"
    """IANA time zone of the cron expression."""
    grace_period: Grace = 60
    """How much later than expected a ping may arrive, in seconds or as `5m`, `1h`."""
    max_run_time: Time | None = None
    """How long a run may last after its start was reported, in seconds or as `5m`, `1h`."""
    min_interval: Time | None = None
    """Shortest time between two pings that report an end, in seconds or as `5m`, `1h`."""
    arm_on_first_ping: bool = False
    """Whether pings are expected only after the first one came."""
    ping_key: Annotated[str, MaxLen(64), Secret()] = ""
    """Key of the ping URL, made by the service."""

    def faults(self) -> dict[str, str]:
        """Either is needed, and one is enough."""
        if self.expected_interval is None and self.cron is None:
            return {"expectedInterval": "Expected interval is required, or cron"}
        if self.expected_interval is not None and self.cron is not None:
            return {"cron": "must not stand beside expectedInterval: null takes that away"}
        return {}

    @property
    def grace(self) -> timedelta:
        return timedelta(seconds=seconds(self.grace_period))
