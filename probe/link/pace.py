"""When to reconnect: soon, or after minutes once a collector has refused the probe for good."""

from collections.abc import Iterator
from typing import Final

from shared.backoff import full_jitter

_FIRST_S: Final = 0.25
_LONGEST_S: Final = 5.0
_FIRST_REFUSED_S: Final = 5.0
_LONGEST_REFUSED_S: Final = 300.0
# After a session of at least this length, the next attempt is made soon.
_GOOD_S: Final = 10.0


class Pace:
    """The pace of all connection attempts of a probe."""

    __slots__ = ("_refused", "_waits")

    def __init__(self) -> None:
        self._refused = False
        self._waits = _waits(refused=False)

    def wait_s(self, *, refused: bool, lasted_s: float) -> float:
        """Seconds to wait after an attempt that lasted *lasted_s*."""
        if refused != self._refused or lasted_s > _GOOD_S:
            self._refused, self._waits = refused, _waits(refused=refused)
        return next(self._waits)


def _waits(*, refused: bool) -> Iterator[float]:
    if refused:
        return full_jitter(_FIRST_REFUSED_S, _LONGEST_REFUSED_S)
    return full_jitter(_FIRST_S, _LONGEST_S)
