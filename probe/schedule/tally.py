"""The scheduler's counters."""

from bisect import bisect_left
from typing import Final

from shared.results import Status

# Microseconds; the last bucket is unbounded.
BOUNDS_US: Final = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000)


class Tally:
    """Counts of one type's checks since the start of the process. *due*: checks that should have started."""

    __slots__ = ("due", "outcomes", "running", "skipped", "started")

    def __init__(self) -> None:
        self.due = self.started = self.skipped = self.running = 0
        self.outcomes = dict.fromkeys(Status, 0)

    def skip(self, starts: int) -> None:
        """Count starts that were due and are skipped."""
        self.due += starts
        self.skipped += starts


class Histogram:
    """A histogram of durations."""

    __slots__ = ("counts", "most_us", "sum_us")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_US) + 1)
        self.sum_us = 0
        self.most_us = 0

    def add(self, us: int) -> None:
        self.counts[bisect_left(BOUNDS_US, us)] += 1
        self.sum_us += us
        self.most_us = max(self.most_us, us)

    def take_most_us(self) -> int:
        """The maximum since the last call."""
        most, self.most_us = self.most_us, 0
        return most
