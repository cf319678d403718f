"""Deadlines of silence: only time in which a collector listened counts."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

Between = tuple[datetime, datetime]

# After a start, wait until every recent location has reconnected, at most this long.
SETTLING: Final = timedelta(seconds=30)


def deadline(last: datetime, wait: timedelta, grace: timedelta, deaf: Iterable[Between]) -> datetime:
    """When silence since *last* counts as missed: after *wait* and *grace* of listened time.

    *deaf*: times that do not count (no collector ran, or a pause), in any order; each extends the deadline by
    its overlap, and all together by one more *grace*.
    """
    due, held = last + wait + grace, timedelta()
    for start, end in union((max(start, last), end) for start, end in deaf):
        if start >= due + held:
            break
        if not held:
            held = grace
        held += end - start
    return due + held


def unheard(listened: Iterable[Between], since: datetime, until: datetime) -> list[Between]:
    """The times between *since* and *until* in which no collector ran."""
    gaps, reached = [], since
    for start, end in union(listened):
        if reached < min(start, until):
            gaps.append((reached, min(start, until)))
        reached = max(reached, end)
    if reached < until:
        gaps.append((reached, until))
    return gaps


def union(spans: Iterable[Between]) -> Sequence[Between]:
    """Merge overlapping and adjacent spans, in order; empty ones are dropped."""
    merged: list[Between] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged
