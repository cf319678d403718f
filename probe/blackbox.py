"""The last result of each monitor for Prometheus, under the names that blackbox_exporter gives them."""

from typing import Final

from shared.blackbox import Last, text
from shared.results import Outcome, Status

# A page of more would hold up the checks while it is written.
MOST_MONITORS: Final = 2_000


class Board:
    """Holds no more than *most*, those that came first; what says nothing of a target is not held."""

    __slots__ = ("_last", "_most")

    def __init__(self, most: int = MOST_MONITORS) -> None:
        self._most = most
        self._last: dict[int, Last] = {}

    def note(self, number: int, monitor: int, type_: str, outcome: Outcome, duration_us: int) -> None:
        """*number* is the assignment's."""
        if outcome.status is Status.UNKNOWN:
            self._last.pop(number, None)
        elif number in self._last or len(self._last) < self._most:
            good = outcome.status is Status.UP
            labels = f'monitor="{monitor}",assignment="{number}",type="{type_}"'
            self._last[number] = Last(
                labels, type_, good, outcome.code, duration_us, outcome.phases, outcome.ends
            )

    def forget(self, number: int) -> None:
        self._last.pop(number, None)

    def text(self) -> str:
        """In Prometheus' format; empty where nothing was checked."""
        return "".join(text(list(self._last.values())))
