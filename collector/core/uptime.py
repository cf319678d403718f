"""Uptime: the part of a known time that was in no outage."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Outage:
    """An incident's time: *seconds* are its open spans, which may be less than all between its ends."""

    started_at: datetime
    ended_at: datetime
    seconds: float


def percent(outages: Sequence[Outage], start: datetime, end: datetime) -> float:
    """Of the time from *start* to *end*, all of it known; 100 when there is none."""
    known = (end - start).total_seconds()
    if known <= 0:
        return 100.0
    bad = sum(_within(outage, start, end) for outage in outages)
    return round(100 * max(0.0, 1 - bad / known), 4)


def _within(outage: Outage, start: datetime, end: datetime) -> float:
    overlap = (min(outage.ended_at, end) - max(outage.started_at, start)).total_seconds()
    return min(max(0.0, overlap), outage.seconds)
