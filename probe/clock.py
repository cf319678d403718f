"""The wall clock in the unit that the wire uses."""

import time


def wall_us() -> int:
    """Unix microseconds."""
    return time.time_ns() // 1000
