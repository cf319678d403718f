"""Counts consecutive outcomes of an assignment, and decides whether the next check is urgent."""

from probe.link.plan import ProbeAssignment
from shared.results import Status
from shared.schedule import recheck_delay


class Streak:
    """Counts like the collector, starting from the collector's state."""

    __slots__ = ("failing", "fails", "goods")

    def __init__(self, assigned: ProbeAssignment) -> None:
        self.fails = assigned.fails
        self.goods = 0
        self.failing = assigned.failing

    @property
    def settled(self) -> bool | None:
        """True: up, False: down, both confirmed; None while a change is being confirmed."""
        if self.failing:
            return None if self.goods else False
        return None if self.fails else True

    def due_s(self, assigned: ProbeAssignment) -> float | None:
        """Seconds until the check that continues another probe's streak; None if there is none."""
        return None if self.failing or not self.fails else _delay_s(self.fails, assigned)

    def count(self, assigned: ProbeAssignment, status: Status) -> float | None:
        """Count a check; return the seconds until the confirming check, None if none is needed.

        An unknown result changes nothing. After a confirmed failure the first success is checked again: a
        location that lost packets by chance recovers before others fail.
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


def _delay_s(streak: int, assigned: ProbeAssignment) -> float:
    return recheck_delay(streak, assigned.interval_us / 1_000_000)
