"""A budget of steps for users' expressions, the same on every machine."""

from typing import Final

# A step is about a microsecond: a value that is looked at.
MOST_STEPS: Final = 100_000
# A scan is a byte of a text seen by one instruction of a pattern: ten nanoseconds for the worst of patterns.
MOST_SCANS: Final = 1 << 27


class TooCostly(Exception):
    """The expression has spent what it may; the text says which kind it is."""


class Meter:
    """What is left of the work that may be done for one answer of a target."""

    __slots__ = ("_scans", "_steps")

    def __init__(self, steps: int = MOST_STEPS, scans: int = MOST_SCANS) -> None:
        self._steps = steps
        self._scans = scans

    def step(self, count: int = 1) -> None:
        """Raises TooCostly."""
        self._steps -= count
        if self._steps < 0:
            raise TooCostly("path")

    def scan(self, count: int) -> None:
        """Raises TooCostly."""
        self._scans -= count
        if self._scans < 0:
            raise TooCostly("pattern")
