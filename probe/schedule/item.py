"""One scheduled check and its state."""

import asyncio
from collections.abc import Callable
from typing import Final

from probe.link.plan import Assigned
from probe.schedule.runner import Ran
from probe.schedule.slots import QUICK
from probe.schedule.streak import Streak
from probe.schedule.tally import Tally
from shared.results import Run
from shared.schedule import phase_us

# A check that took so much longer than it may shows that this process, or its machine, stood still.
_HELD_UP_US: Final = 1_000_000


class Item:
    """One made for a single run has no place in the heap. Times are microseconds of the boot clock."""

    __slots__ = (
        "answer", "assigned", "began_us", "due_us", "gone", "held_up_us", "hold", "next_us", "phase_us",
        "recheck_us", "release", "resting", "run", "slow", "streak", "tally", "task", "team", "until_us",
        "waits", "wanted_us",
    )  # fmt: skip

    def __init__(self, assigned: Assigned, tally: Tally) -> None:
        self.streak = Streak(assigned)
        self.tally = tally
        self.gone = False
        self.run = Run.SCHEDULED
        self.task: asyncio.Task[None] | None = None  # who runs it now
        self.waits = False
        self.wanted_us = 0  # when the run that waits or goes on should have started
        self.until_us = 0  # after this it is not worth starting; 0: always
        self.began_us = 0
        self.answer: Callable[[Ran], None] | None = None
        self.release: Callable[[int], None] | None = None  # who hears when it is let go of
        self.resting = False  # it was, and another probe is about to take it over
        self.slow = False
        self.hold = QUICK
        self.team = assigned.team  # whose room it holds
        self.held_up_us = 0
        self.phase_us = self.due_us = self.next_us = self.recheck_us = 0
        self.take(assigned)

    def take(self, assigned: Assigned) -> bool:
        """Go by *assigned* from now on; says whether the regular starts move."""
        before = self.phase_us
        self.assigned = assigned
        self.held_up_us = int(assigned.timeout_s * 1_000_000) + _HELD_UP_US
        self.phase_us = phase_us(assigned.monitor, assigned.interval_us, assigned.turn, assigned.turns)
        return self.phase_us != before

    @property
    def busy(self) -> bool:
        return self.task is not None or self.waits
