"""Health of the background loops of this process: names those that stall or only fail."""

import time
from collections.abc import Awaitable, Callable
from typing import Final

Turn = Callable[[], Awaitable[bool]]

# Longer than the longest statement may take, and than a database takes to come back.
_PATIENCE_S: Final = 120.0


class Pulse:
    """When each loop last ended a turn well; *clock* is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._well: dict[str, tuple[float, float]] = {}

    def felt(self, name: str, turn: Turn, rest: float) -> Turn:
        """The same *turn*, which is expected to end well from now on, with *rest* seconds between two."""
        self._well[name] = (self._clock(), rest)

        async def felt() -> bool:
            more = await turn()
            self._well[name] = (self._clock(), rest)
            return more

        return felt

    def still(self) -> list[str]:
        """The names of those that have ended no turn well for two rests and two minutes."""
        now = self._clock()
        return [name for name, (at, rest) in self._well.items() if now - at > 2 * rest + _PATIENCE_S]
