"""Uptime: the share of the known time that was in no outage."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

# Unix milliseconds from the first up to but not including the second; lists rise and do not overlap.
Span: TypeAlias = tuple[int, int]

# How late a check may be before the time after the last one counts as unknown.
_LATE_S = 15
# The longest time that a result covers: an interval of a day, the longest timeout, and the above.
LONGEST_S = 86_400 + 120 + _LATE_S


def share(known_ms: int, down_ms: int) -> float:
    """Return the percentage of known time without an outage; 100 only without any outage."""
    if known_ms <= 0 or down_ms <= 0:
        return 100.0
    return min(99.9999, round(100 * max(0.0, 1 - down_ms / known_ms), 4))


def cover_s(interval_s: int, timeout_s: int) -> int:
    """Return for how many seconds a result counts if no other follows."""
    return interval_s + timeout_s + _LATE_S


def known(
    results: Sequence[tuple[int, bool]],
    cadences: Sequence[tuple[int, int | None]],
    maintenance: Iterable[Span] = (),
) -> list[Span]:
    """Return the time that the results of one location cover, without maintenance.

    *results*: when each began, in Unix milliseconds, in that order, and whether it was conclusive (up or
    down). *cadences*: since when (ms), and how long (s) a result counts; None while paused.
    """
    spans: list[Span] = []
    for i, (at, says) in enumerate(results):
        cover = next((cover for since, cover in reversed(cadences) if since <= at), None)
        if not says or cover is None:
            continue
        pauses = [since for since, paused in cadences if since > at and paused is None]
        following = [after for after, _ in results[i + 1 : i + 2]]
        spans.append((at, min([at + cover * 1000, *pauses, *following])))
    return less(union(spans), maintenance)


def union(*lists: Iterable[Span]) -> list[Span]:
    """Return the union of all lists."""
    together: list[Span] = []
    for start, end in sorted(span for spans in lists for span in spans if span[0] < span[1]):
        if together and start <= together[-1][1]:
            together[-1] = (together[-1][0], max(together[-1][1], end))
        else:
            together.append((start, end))
    return together


def less(spans: Sequence[Span], holes: Iterable[Span]) -> list[Span]:
    """Return *spans* without *holes*."""
    left = list(spans)
    for start, end in union(holes):
        left = [
            part
            for since, until in left
            for part in ((since, min(until, start)), (max(since, end), until))
            if part[0] < part[1]
        ]
    return left


def intersection(first: Sequence[Span], second: Sequence[Span]) -> list[Span]:
    """Return the intersection of both."""
    common: list[Span] = []
    i = j = 0
    while i < len(first) and j < len(second):
        start, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if start < end:
            common.append((start, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return common


def length_ms(spans: Iterable[Span], start: int, end: int) -> int:
    """Return the milliseconds of the spans between *start* and *end*."""
    return sum(max(0, min(until, end) - max(since, start)) for since, until in spans)
