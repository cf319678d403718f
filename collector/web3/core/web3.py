"""Crossed thresholds: at which locations, and what to announce."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from collector.evaluation.core.holds import AllowedEffects, Hold

# Findings during these holds are stored but never announced: afterwards they are no longer current.
_FOR_GOOD: Final = frozenset({Hold.SILENCED, Hold.MAINTENANCE, Hold.PARENT_DOWN})


@dataclass(frozen=True, slots=True)
class ChainAlert:
    """A crossed threshold; without *locations* it has recovered, and *recovery* says why.

    *data*: of the first check that found it. *told_at*: when it was announced.
    """

    locations: tuple[int, ...]
    raised_at: datetime
    data: Mapping[str, Any]
    recovery: Mapping[str, Any] | None = None
    told_at: datetime | None = None


class ChainAnnouncement(StrEnum):
    """What to announce of an alert; BOTH: first that it was crossed, then its recovery."""

    NOTHING = "nothing"
    RAISED = "raised"
    RECOVERED = "recovered"
    BOTH = "both"


def raised(before: ChainAlert | None, location: int, data: Mapping[str, Any], at: datetime) -> ChainAlert:
    """The alert after a check at *location*, begun *at*, found it crossed.

    An alert whose recovery was not announced continues as if it had never recovered.
    """
    if before is None:
        return ChainAlert((location,), at, data)
    if location in before.locations:
        return before
    if not before.locations:
        return replace(before, locations=(location,), data=data, recovery=None)
    return replace(before, locations=tuple(sorted((*before.locations, location))))


def recovered(before: ChainAlert | None, location: int, data: Mapping[str, Any]) -> ChainAlert | None:
    """The alert after a check found it no longer crossed; it recovers with its last location."""
    if before is None or location not in before.locations:
        return before
    left = tuple(other for other in before.locations if other != location)
    return replace(before, locations=left, recovery=None if left else data)


def due(
    alert: ChainAlert, free: AllowedEffects, now: datetime
) -> tuple[ChainAnnouncement, ChainAlert | None]:
    """What to announce now, and the remaining alert.

    A recovery is announced if the alert was; one that recovered while held back is never announced.
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
    """Whether a log found now is never announced, because notifications are suppressed."""
    return not _FOR_GOOD.isdisjoint(holds)
