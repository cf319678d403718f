"""The due queue: buckets of a millisecond."""

import heapq
from collections.abc import Iterator
from typing import Final

from probe.schedule.item import Item

# As exact as the event loop's timers are.
_TICK_US: Final = 1000
_STALE_AT_LEAST: Final = 1000


class DueQueue:
    """Each item is in it once at most, at its `due_us`. Nothing is taken early."""

    __slots__ = ("_buckets", "_ticks")

    def __init__(self) -> None:
        self._buckets: dict[int, set[Item]] = {}
        self._ticks: list[int] = []  # a heap; those whose bucket is gone count no more

    def __len__(self) -> int:
        """How many entries it takes, those included that count no more."""
        return len(self._ticks)

    @property
    def next_us(self) -> int | None:
        """When there is something to take."""
        return self._ticks[0] * _TICK_US if self._ticks else None

    def put(self, item: Item, due_us: int) -> None:
        """Have *item* come at *due_us*, and no more when it was due before."""
        self.remove(item)
        item.due_us = due_us
        tick = _tick(due_us)
        bucket = self._buckets.get(tick)
        if bucket is None:
            self._buckets[tick] = {item}
            heapq.heappush(self._ticks, tick)
            self._sweep()
        else:
            bucket.add(item)

    def remove(self, item: Item) -> None:
        """Have *item* not come; harmless if it was not to."""
        tick = _tick(item.due_us)
        bucket = self._buckets.get(tick)
        if bucket is not None:
            bucket.discard(item)
            if not bucket:
                del self._buckets[tick]

    def take(self, now_us: int) -> Iterator[Item]:
        """All that is due, oldest first; it is here no more, but may be put again."""
        while self._ticks and self._ticks[0] * _TICK_US <= now_us:
            yield from self._buckets.pop(heapq.heappop(self._ticks), ())

    def _sweep(self) -> None:
        if len(self._ticks) > 2 * len(self._buckets) + _STALE_AT_LEAST:
            self._ticks = sorted(self._buckets)


def _tick(due_us: int) -> int:
    return -(-due_us // _TICK_US)
