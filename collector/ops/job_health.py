"""Health of the background loops of this process: names those that stall or only fail."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

from shared.clock import SecondClock

MeasurementChange = Callable[[], Awaitable[bool]]

# Longer than any statement may take, and than a database usually needs to return.
_PATIENCE_S: Final = 120.0


class Pulse:
    """Tracks when each loop last completed a turn; *clock* is monotonic, in seconds."""

    def __init__(self, clock: SecondClock = time.monotonic) -> None:
        self._clock = clock
        self._well: dict[str, tuple[float, float]] = {}

    def felt(self, name: str, turn: MeasurementChange, rest: float) -> MeasurementChange:
        """Wrap *turn* to track it from now on; *rest*: seconds between two turns."""
        self._well[name] = (self._clock(), rest)

        async def felt() -> bool:
            more = await turn()
            self._well[name] = (self._clock(), rest)
            return more

        return felt

    def still(self) -> list[str]:
        """The names of loops without a completed turn for two rests plus two minutes."""
        now = self._clock()
        return [name for name, (at, rest) in self._well.items() if now - at > 2 * rest + _PATIENCE_S]
