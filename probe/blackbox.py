"""The last result of each monitor as Prometheus metrics, with blackbox_exporter's names."""

from typing import Final
from uuid import UUID

from probe.link.plan import ProbeAssignment
from shared import ids
from shared.blackbox import LastCheck, text
from shared.results import Outcome, Status

# A larger page would delay checks while it is written.
MOST_MONITORS: Final = 2_000
_ID_BYTES: Final = 16


class Board:
    """Holds at most *most* results, the first ones; unknown ones are not held."""

    __slots__ = ("_last", "most")

    def __init__(self, most: int = MOST_MONITORS) -> None:
        self.most = most
        self._last: dict[int, LastCheck] = {}

    def note(self, assigned: ProbeAssignment, outcome: Outcome, duration_us: int) -> None:
        number, type_ = assigned.number, assigned.type
        before = self._last.get(number)
        if outcome.status is Status.UNKNOWN:
            self._last.pop(number, None)
        elif before is not None or len(self._last) < self.most:
            good = outcome.status is Status.UP
            labels = before.labels if before is not None else _labels(assigned)
            self._last[number] = LastCheck(
                labels, type_, good, outcome.code, duration_us, outcome.phases, outcome.ends
            )

    def forget(self, number: int) -> None:
        self._last.pop(number, None)

    def text(self) -> str:
        """Prometheus text format; empty without results."""
        return "".join(text(list(self._last.values())))


def _labels(assigned: ProbeAssignment) -> str:
    """Monitors are labelled by their API ids, or by numbers if the collector is too old to send ids."""
    known = assigned.monitor_id
    monitor = ids.show("mon", UUID(bytes=known)) if len(known) == _ID_BYTES else str(assigned.monitor)
    return f'monitor="{monitor}",assignment="{assigned.number}",type="{assigned.type}"'
