"""Reports expiring certificates that checks of other types than `tls` meet."""

import time
from dataclasses import replace
from typing import Final

from probe.link.plan import ProbeAssignment
from probe.schedule.runner import CheckRun
from shared.clock import SecondClock
from shared.kinds.tls import Expiry
from shared.results import Outcome

# The expiry is reported again after this time, for a collector restored from a backup.
_AGAIN_S: Final = 600.0
_DAY_S: Final = 86_400


def days_left(outcome: Outcome, at: float) -> float | None:
    """Days until the certificate's expiry at that Unix time, negative afterwards; None without one."""
    return None if outcome.ends is None else (outcome.ends - at) / _DAY_S


class CertificateEnds:
    """Remembers the reported expiry of each assignment: most certificates do not change."""

    __slots__ = ("_now", "_reported")

    def __init__(self, now: SecondClock = time.monotonic) -> None:
        self._now = now
        self._reported: dict[int, tuple[int, int, float]] = {}

    def with_news(self, assigned: ProbeAssignment, ran: CheckRun) -> CheckRun:
        """*ran* with the certificate's expiry as its state, if that is news."""
        ends = ran.outcome.ends
        if ends is None or ran.outcome.state is not None:
            return ran
        now, known = self._now(), self._reported.get(assigned.number)
        news = assigned.revision, int(ends)
        if known is not None and known[:2] == news and now - known[2] < _AGAIN_S:
            return ran
        self._reported[assigned.number] = (*news, now)
        state = Expiry(only_near=False, ends=int(ends)).pack()
        return replace(ran, outcome=replace(ran.outcome, state=state))

    def forget(self, number: int) -> None:
        self._reported.pop(number, None)
