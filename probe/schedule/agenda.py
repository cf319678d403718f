"""The due queue: buckets of a millisecond."""

import heapq
from collections.abc import Iterator
from typing import Final

from probe.schedule.item import Item

# As precise as the event loop's timers.
_TICK_US: Final = 1000
_STALE_AT_LEAST: Final = 1000


class DueQueue:
    """A queue of items by `due_us`, each at most once. Items are never taken early."""

    __slots__ = ("_buckets", "_ticks")

    def __init__(self) -> None:
        # Most buckets of a probe have one item, which needs no set.
        self._buckets: dict[int, Item | set[Item]] = {}
        self._ticks: list[int] = []  # a heap; entries without a bucket are obsolete

    def __len__(self) -> int:
        """The number of heap entries, obsolete ones included."""
        return len(self._ticks)

    @property
    def next_us(self) -> int | None:
        """When the next item is due."""
        return self._ticks[0] * _TICK_US if self._ticks else None

    def put(self, item: Item, due_us: int) -> None:
        """Schedule *item* at *due_us*, replacing an earlier schedule."""
        self.remove(item)
        item.due_us = due_us
        tick = -(-due_us // _TICK_US)
        bucket = self._buckets.get(tick)
        if bucket is None:
            self._buckets[tick] = item
            heapq.heappush(self._ticks, tick)
            self._sweep()
        elif isinstance(bucket, Item):
            self._buckets[tick] = {bucket, item}
        else:
            bucket.add(item)

    def remove(self, item: Item) -> None:
        """Remove *item*; harmless if it is not scheduled."""
        tick = -(-item.due_us // _TICK_US)
        bucket = self._buckets.get(tick)
        if bucket is item:
            del self._buckets[tick]
        elif isinstance(bucket, set):
            bucket.discard(item)
            if not bucket:
                del self._buckets[tick]

    def take(self, now_us: int) -> Iterator[Item]:
        """Remove and yield all due items, oldest first; they may be put again."""
        while self._ticks and self._ticks[0] * _TICK_US <= now_us:
            bucket = self._buckets.pop(heapq.heappop(self._ticks), ())
            if isinstance(bucket, Item):
                yield bucket
            else:
                yield from bucket

    def _sweep(self) -> None:
        if len(self._ticks) > 2 * len(self._buckets) + _STALE_AT_LEAST:
            self._ticks = sorted(self._buckets)
