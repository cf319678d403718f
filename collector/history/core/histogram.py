"""Latency histograms with geometric buckets: percentiles of any span without raw results."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

# The largest relative error of a percentile.
ERROR = 0.02

_LONGEST_MS = 2**31 - 1


def _bounds() -> tuple[int, ...]:
    """Return the start of each bucket but the first; each is as wide as ERROR from its mean allows."""
    bounds = [1]
    while bounds[-1] <= _LONGEST_MS:
        bounds.append(bounds[-1] * 51 // 49 + 1)
    return tuple(bounds[:-1])


# In milliseconds. PostgreSQL's width_bucket with these equals `bucket_of`.
BOUNDS = _bounds()


def bucket_of(ms: int) -> int:
    """Return the bucket of *ms*; 0 only for 0 ms."""
    return bisect_right(BOUNDS, ms)


def value_of(bucket: int) -> float:
    """Return the milliseconds that represent a bucket: relatively as far from its first as from its last."""
    if bucket == 0:
        return 0.0
    first = BOUNDS[bucket - 1]
    last = BOUNDS[bucket] - 1 if bucket < len(BOUNDS) else _LONGEST_MS
    return 2 * first * last / (first + last)


_VALUES = tuple(value_of(bucket) for bucket in range(len(BOUNDS) + 1))


def merged(rows: Iterable[tuple[Sequence[int], Sequence[int]]]) -> tuple[list[int], list[int]]:
    """Merge histograms, each as its buckets and their counts; buckets rise."""
    totals = [0] * (len(BOUNDS) + 1)
    for buckets, counts in rows:
        for bucket, count in zip(buckets, counts, strict=True):
            totals[bucket] += count
    order = [bucket for bucket, count in enumerate(totals) if count]
    return order, [totals[bucket] for bucket in order]


def percentiles(
    buckets: Sequence[int], counts: Sequence[int], shares: Sequence[float] = (0.5, 0.95, 0.99)
) -> list[float]:
    """Return for each share the latency in milliseconds that this share does not exceed; 0 without any.

    *buckets* rise. Nearest rank: the smallest latency with at least that share at or below it.
    """
    if not counts:
        return [0.0 for _ in shares]
    below = list(accumulate(counts))
    total = below[-1]
    return [_VALUES[buckets[bisect_left(below, share * total - 1e-9)]] for share in shares]
