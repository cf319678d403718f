"""Counts consecutive outcomes of an assignment, and decides whether the next check is urgent."""

from probe.link.plan import Assigned
from shared.results import Status
from shared.schedule import recheck_delay


class Streak:
    """Counts as the collector does; begins where the collector says that it stands."""

    __slots__ = ("failing", "fails", "goods")

    def __init__(self, assigned: Assigned) -> None:
        self.fails = assigned.fails
        self.goods = 0
        self.failing = assigned.failing

    @property
    def settled(self) -> bool | None:
        """Good (True) or failing for sure; None while either is being confirmed."""
        if self.failing:
            return None if self.goods else False
        return None if self.fails else True

    def due_s(self, assigned: Assigned) -> float | None:
        """Seconds until the check that goes on with a streak from elsewhere; None if there is none."""
        return None if self.failing or not self.fails else _delay_s(self.fails, assigned)

    def count(self, assigned: Assigned, status: Status) -> float | None:
        """Add a check; the answer is the seconds until it should be confirmed, None if there is no need.

        A check that says nothing (unknown) changes nothing. A location that is failing for sure is asked once
        more: one that lost its checks by chance is well again before another one loses its own.
        """
        if status is Status.UNKNOWN:
            return None
        if status is Status.UP:
            self.fails = 0
            if not self.failing:
                return None
            self.goods += 1
            self.failing = self.goods < assigned.recovery_threshold
            return _delay_s(self.goods, assigned) if self.failing else None
        self.goods = 0
        self.fails += 1
        if self.failing:
            return None
        self.failing = self.fails >= assigned.failure_threshold
        return _delay_s(self.fails, assigned)


def _delay_s(streak: int, assigned: Assigned) -> float:
    return recheck_delay(streak, assigned.interval_us / 1_000_000)
