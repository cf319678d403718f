"""Hands the plan's assignments to what works on them."""

from collections.abc import Sequence
from typing import Protocol

from probe.link.plan import ProbeAssignment
from probe.link.releases import Releases
from probe.schedule.scheduler import Scheduler


class Forgets(Protocol):
    """Keeps something about each assignment."""

    def forget(self, number: int) -> None:
        """Drop what is kept about an assignment that was removed."""


class Assignments:
    """Implements `AssignmentHolder`: the *scheduler* runs them, and *kept_by* forgets removed ones."""

    def __init__(self, scheduler: Scheduler, releases: Releases, kept_by: Sequence[Forgets] = ()) -> None:
        self._scheduler = scheduler
        self._releases = releases
        self._kept_by = kept_by

    def take(self, assigned: ProbeAssignment) -> None:
        self._scheduler.take(assigned)

    def leave(self, number: int) -> None:
        self._scheduler.leave(number)
        for each in self._kept_by:
            each.forget(number)

    def release(self, number: int) -> None:
        self._releases.ask(number)
