"""Crossed thresholds: at which locations, and what to announce."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any, Final

from collector.evaluation.core.holds import Allowed, Hold

# What is found while these hold is kept and not told: it is not still the case when they end.
_FOR_GOOD: Final = frozenset({Hold.SILENCED, Hold.MAINTENANCE, Hold.PARENT_DOWN})


@dataclass(frozen=True, slots=True)
class ChainAlert:
    """A threshold that was crossed; without *locations* it is no longer, and *recovery* says why.

    *data* is what the first check said that saw it. *told_at*: when it was told that it is crossed.
    """

    locations: tuple[int, ...]
    raised_at: datetime
    data: Mapping[str, Any]
    recovery: Mapping[str, Any] | None = None
    told_at: datetime | None = None


class ChainAnnouncement(Enum):
    """What is to be told of an alert; of BOTH that it was crossed first."""

    NOTHING = "nothing"
    RAISED = "raised"
    RECOVERED = "recovered"
    BOTH = "both"


def raised(before: ChainAlert | None, location: int, data: Mapping[str, Any], at: datetime) -> ChainAlert:
    """After a check there that began *at* found it crossed.

    One that nobody was told is over goes on as if it had never come back.
    """
    if before is None:
        return ChainAlert((location,), at, data)
    if location in before.locations:
        return before
    if not before.locations:
        return replace(before, locations=(location,), data=data, recovery=None)
    return replace(before, locations=tuple(sorted((*before.locations, location))))


def recovered(before: ChainAlert | None, location: int, data: Mapping[str, Any]) -> ChainAlert | None:
    """After a check there found that it is crossed no longer; the last location makes it over."""
    if before is None or location not in before.locations:
        return before
    left = tuple(one for one in before.locations if one != location)
    return replace(before, locations=left, recovery=None if left else data)


def due(alert: ChainAlert, free: Allowed, now: datetime) -> tuple[ChainAnnouncement, ChainAlert | None]:
    """What to tell of it now, and what is left of it then.

    Who was told of it is told of its end; one that came back while it was held is told to nobody.
    """
    over = not alert.locations
    if alert.told_at is None and not over:
        return (
            (ChainAnnouncement.RAISED, replace(alert, told_at=now))
            if free.openings
            else (ChainAnnouncement.NOTHING, alert)
        )
    if alert.told_at is None:
        return (ChainAnnouncement.BOTH if free.openings else ChainAnnouncement.NOTHING), None
    if over and free.recovery:
        return ChainAnnouncement.RECOVERED, None
    return ChainAnnouncement.NOTHING, alert


def passes(holds: Iterable[Hold]) -> bool:
    """Is a log that is found now never told, since it happens while somebody wants no news?"""
    return not _FOR_GOOD.isdisjoint(holds)
