"""Latency histograms with geometric buckets: percentiles of any span without raw results."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

# A percentile is at most this far, relatively, from the latency that it stands for.
ERROR = 0.02

_LONGEST_MS = 2**31 - 1


def _bounds() -> tuple[int, ...]:
    """Where each bucket but the first begins, as far as its last latency is within ERROR of their mean."""
    bounds = [1]
    while bounds[-1] <= _LONGEST_MS:
        bounds.append(bounds[-1] * 51 // 49 + 1)
    return tuple(bounds[:-1])


# In milliseconds. Of PostgreSQL's width_bucket they make the same function as `bucket_of`.
BOUNDS = _bounds()


def bucket_of(ms: int) -> int:
    """0 for what took no time at all; rises with *ms*."""
    return bisect_right(BOUNDS, ms)


def value_of(bucket: int) -> float:
    """The milliseconds that stand for a bucket: relatively as far from its first as from its last."""
    if bucket == 0:
        return 0.0
    first = BOUNDS[bucket - 1]
    last = BOUNDS[bucket] - 1 if bucket < len(BOUNDS) else _LONGEST_MS
    return 2 * first * last / (first + last)


_VALUES = tuple(value_of(bucket) for bucket in range(len(BOUNDS) + 1))


def merged(rows: Iterable[tuple[Sequence[int], Sequence[int]]]) -> tuple[list[int], list[int]]:
    """One histogram of many, each as its buckets and how many are in them; buckets rise."""
    totals = [0] * (len(BOUNDS) + 1)
    for buckets, counts in rows:
        for bucket, count in zip(buckets, counts, strict=True):
            totals[bucket] += count
    order = [bucket for bucket, count in enumerate(totals) if count]
    return order, [totals[bucket] for bucket in order]


def percentiles(
    buckets: Sequence[int], counts: Sequence[int], shares: Sequence[float] = (0.5, 0.95, 0.99)
) -> list[float]:
    """For each share the latency in milliseconds that so large a part does not exceed; 0 when there is none.

    *buckets* rise. Nearest rank: the smallest latency with at least that share at or below it.
    """
    if not counts:
        return [0.0 for _ in shares]
    below = list(accumulate(counts))
    total = below[-1]
    return [_VALUES[buckets[bisect_left(below, share * total - 1e-9)]] for share in shares]
