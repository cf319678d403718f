"""Which hours may be rolled up: later changes to them must mark them."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from shared.clock import EPOCH

_HOUR = timedelta(hours=1)
# The rollups wait this long after an hour, plus a minute for a running transaction.
_GRACE = timedelta(minutes=1)


def end(now: datetime, rolled_until: datetime | None) -> datetime:
    """Return the start of the oldest hour that is not rolled up before our commit.

    Hours before *rolled_until* are, perhaps by a clock that was ahead; others may be while we write.
    """
    over = (now - _GRACE).replace(minute=0, second=0, microsecond=0)
    return over if rolled_until is None else max(over, rolled_until)


def between(at: datetime, end: datetime) -> list[datetime]:
    """Return the hours from that of *at* to *end*."""
    first = at.replace(minute=0, second=0, microsecond=0)
    return [first + n * _HOUR for n in range(max(0, (end - first) // _HOUR))]


def touched(keys: Sequence[int], at_ms: Sequence[int], end: datetime) -> set[tuple[int, datetime]]:
    """Return (monitor, hour) of results in hours before *end*; *keys* as in `Columns`."""
    end_ms = (end - EPOCH) // timedelta(milliseconds=1)
    if not at_ms or min(at_ms) >= end_ms:
        return set()
    late = {(key >> 16, at // 3_600_000) for key, at in zip(keys, at_ms, strict=True) if at < end_ms}
    return {(monitor, EPOCH + hour * _HOUR) for monitor, hour in late}
