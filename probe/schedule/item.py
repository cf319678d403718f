"""One scheduled check and its state."""

import asyncio
from typing import Final, Protocol

from probe.link.plan import ProbeAssignment
from probe.schedule.runner import CheckRun
from probe.schedule.slots import QUICK
from probe.schedule.streak import Streak
from probe.schedule.tally import Tally
from shared.results import Run
from shared.schedule import phase_us

# If a check exceeds its time limit by this much, the process or its machine was suspended.
HELD_UP_US: Final = 1_000_000


class ResultReceiver(Protocol):
    """Receives the result of a test."""

    def __call__(self, ran: CheckRun, /) -> None: ...


class ReleaseReceiver(Protocol):
    """Learns that another probe may take over the assignment with that number."""

    def __call__(self, number: int, /) -> None: ...


class Item:
    """A scheduled check; one for a single run is not queued. Times are microseconds of the boot clock."""

    __slots__ = (
        "answer", "assigned", "began_us", "due_us", "gone", "hold", "next_us", "phase_us",
        "recheck_us", "release", "resting", "run", "slow", "streak", "tally", "task", "team", "until_us",
        "waits", "wanted_us",
    )  # fmt: skip

    def __init__(self, assigned: ProbeAssignment, tally: Tally) -> None:
        self.streak = Streak(assigned)
        self.tally = tally
        self.gone = False
        self.run = Run.SCHEDULED
        self.task: asyncio.Task[None] | None = None  # the task that runs it now
        self.waits = False
        self.wanted_us = 0  # when the waiting or running check should have started
        self.until_us = 0  # after this, starting is useless; 0: never
        self.began_us = 0
        self.answer: ResultReceiver | None = None
        self.release: ReleaseReceiver | None = None  # called when it is released
        self.resting = False  # it was released, and another probe is about to take over
        self.slow = False
        self.hold = QUICK
        self.team = assigned.team  # the team whose slot it occupies
        self.phase_us = self.due_us = self.next_us = self.recheck_us = 0
        self.take(assigned)

    def take(self, assigned: ProbeAssignment) -> bool:
        """Use *assigned* from now on; return whether the regular starts move."""
        before = self.phase_us
        self.assigned = assigned
        self.phase_us = phase_us(assigned.monitor, assigned.interval_us, assigned.turn, assigned.turns)
        return self.phase_us != before

    @property
    def held_up_us(self) -> int:
        """After this duration, the probe rather than the target was too slow."""
        return int(self.assigned.timeout_s * 1_000_000) + HELD_UP_US

    @property
    def busy(self) -> bool:
        return self.task is not None or self.waits
