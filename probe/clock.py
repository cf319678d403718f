"""The wall clock in microseconds, the unit of the wire."""

import time


def wall_us() -> int:
    """Unix microseconds."""
    return time.time_ns() // 1000
