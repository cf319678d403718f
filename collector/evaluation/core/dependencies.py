"""Decides whether trouble is the monitor's own or that of the monitors it depends on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from collector.evaluation.core import quorum
from collector.evaluation.core.quorum import Vote

# A child that went down waits this long for the verdict on its parents.
PATIENCE = timedelta(seconds=15)
# A child whose parent came up waits this long for a check of its own, which is requested at once.
MEASURED_WITHIN = timedelta(seconds=60)


class Parents(StrEnum):
    """The combined state of all parents of a monitor."""

    WELL = "well"
    AWAITED = "awaited"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class ParentLocation:
    """A parent at one location; *last_at* is the start of its newest check."""

    vote: Vote
    fails: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class ParentState:
    """*turned_at*: when it last went down or came up, if ever; *incident_id*: its open automatic one."""

    id: UUID
    name: str
    quorum: str
    down: bool
    paused: bool
    turned_at: datetime | None
    incident_id: UUID | None
    places: Sequence[ParentLocation]


@dataclass(frozen=True, slots=True)
class DownChild:
    """A monitor that is down *since* its first failed check; it was found down at *turned_at*.

    *measured_at*: the start of its newest failed check.
    """

    since: datetime
    turned_at: datetime
    measured_at: datetime | None


def verdict(child: DownChild, parents: Sequence[ParentState], now: datetime) -> Parents:
    """Down when any parent is; awaited while one may be down, or came up after the child's last check.

    A parent that is paused, or has no voters, is never awaited.
    """
    able = [parent for parent in parents if not parent.paused]
    if any(parent.down for parent in able):
        return Parents.DOWN
    if any(_doubtful(child, parent, now) or _just_up(child, parent, now) for parent in able):
        return Parents.AWAITED
    return Parents.WELL


def _doubtful(child: DownChild, parent: ParentState, now: datetime) -> bool:
    """Whether the parent may still be found down, by checks that began after the child's trouble."""
    voters = [at for at in parent.places if at.vote.counts(now)]
    if not voters or abs(now - child.turned_at) >= PATIENCE:
        return False
    well = sum(
        not at.vote.failing and at.fails == 0 and at.last_at is not None and at.last_at >= child.since
        for at in voters
    )
    return len(voters) - well >= quorum.needed(parent.quorum, len(voters))


def _just_up(child: DownChild, parent: ParentState, now: datetime) -> bool:
    rose_at = parent.turned_at
    if rose_at is None or rose_at <= child.since or abs(now - rose_at) >= MEASURED_WITHIN:
        return False
    return child.measured_at is None or child.measured_at < rose_at
