"""Clocks: UTC wall time for people, the boot clock for durations and ages."""

import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UtcClock(Protocol):
    """Returns the time in UTC, as `utc_now` does."""

    def __call__(self) -> datetime: ...


class SecondClock(Protocol):
    """Returns seconds since some moment; never steps back, as `time.monotonic`."""

    def __call__(self) -> float: ...


class MicrosecondClock(Protocol):
    """Returns microseconds since a moment: of the boot, as `boot_us` does, or of the wall clock's epoch."""

    def __call__(self) -> int: ...


def utc_now() -> datetime:
    """The current time in UTC, in the form of PostgreSQL's timestamptz."""
    return datetime.now(UTC)


def boot_us() -> int:
    """Microseconds since the machine's boot, including suspend; independent of wall-clock steps."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


@cache
def boot_id() -> str:
    """The id of the boot from which `boot_us` counts; values are comparable only within one boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def iso(moment: datetime) -> str:
    """``2026-11-21T07:24:00.000Z``: UTC, milliseconds, always Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
