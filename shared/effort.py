"""A budget of steps for users' expressions, the same on every machine."""

from typing import Final

# A step costs about a microsecond: one value is examined.
MOST_STEPS: Final = 100_000
# A scan is one byte processed by one pattern instruction: ten nanoseconds for the worst patterns.
MOST_SCANS: Final = 1 << 27


class TooCostly(Exception):
    """The expression has used up its budget; the text says which kind."""


class Meter:
    """The remaining work allowed for one response of a target."""

    __slots__ = ("_scans", "_steps")

    def __init__(self, steps: int = MOST_STEPS, scans: int = MOST_SCANS) -> None:
        self._steps = steps
        self._scans = scans

    def step(self, count: int = 1) -> None:
        """Spend *count* steps. Raises TooCostly."""
        self._steps -= count
        if self._steps < 0:
            raise TooCostly("path")

    def scan(self, count: int) -> None:
        """Spend *count* scans. Raises TooCostly."""
        self._scans -= count
        if self._scans < 0:
            raise TooCostly("pattern")
