"""Hours that are over, and so may be rolled up already: who changes what they say has to mark them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from shared.clock import EPOCH

_HOUR = timedelta(hours=1)
# The rollups wait for as long after an hour, and a minute more, which a transaction may take.
_GRACE = timedelta(minutes=1)


def over(now: datetime) -> datetime:
    """Where the oldest hour begins that nobody can have rolled up yet."""
    return (now - _GRACE).replace(minute=0, second=0, microsecond=0)


def between(at: datetime, now: datetime) -> list[datetime]:
    """The hours from the one of *at* on that are over."""
    first = at.replace(minute=0, second=0, microsecond=0)
    return [first + n * _HOUR for n in range(max(0, (over(now) - first) // _HOUR))]


def touched(keys: Sequence[int], at_ms: Sequence[int], now: datetime) -> set[tuple[int, datetime]]:
    """(monitor, hour) of results in hours that are over; *keys* as in `Columns`."""
    end_ms = (over(now) - EPOCH) // timedelta(milliseconds=1)
    if not at_ms or min(at_ms) >= end_ms:
        return set()
    late = {(key >> 16, at // 3_600_000) for key, at in zip(keys, at_ms, strict=True) if at < end_ms}
    return {(monitor, EPOCH + hour * _HOUR) for monitor, hour in late}
