"""Deadlines of many items with one timer: buckets of 10 ms."""

import asyncio
import heapq
import math
import time
from typing import Protocol

TICK_S = 0.01
# uvloop busy-loops on shorter timers.
_LEAST_S = 0.001


class Expiring(Protocol):
    """Something with a deadline. `expire` may be called after it ended, and then does nothing."""

    due: float

    def expire(self) -> None: ...


class Deadlines:
    """Fires in order of the deadlines, at most one tick late, never early."""

    __slots__ = ("_armed", "_buckets", "_loop", "_ticks", "_timer")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._buckets: dict[int, set[Expiring]] = {}
        self._ticks: list[int] = []
        self._timer: asyncio.TimerHandle | None = None
        self._armed = math.inf

    def add(self, item: Expiring, due: float) -> None:
        """Call `expire` of *item* at *due* on `time.monotonic()`."""
        item.due = due
        tick = int(due / TICK_S) + 1
        bucket = self._buckets.get(tick)
        if bucket is not None:
            bucket.add(item)
            return
        self._buckets[tick] = {item}
        heapq.heappush(self._ticks, tick)
        if tick < self._armed:
            self._arm(tick)

    def remove(self, item: Expiring) -> None:
        """Remove *item*, which was added and may have expired."""
        bucket = self._buckets.get(int(item.due / TICK_S) + 1)
        if bucket is not None:
            bucket.discard(item)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._buckets.clear()
        self._ticks.clear()

    def _arm(self, tick: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed = tick
        self._timer = self._loop.call_later(max(tick * TICK_S - time.monotonic(), _LEAST_S), self._turn)

    def _turn(self) -> None:
        now = time.monotonic()
        over: list[Expiring] = []
        while self._ticks and self._ticks[0] * TICK_S <= now:
            over += sorted(self._buckets.pop(heapq.heappop(self._ticks)), key=_due)
        self._timer, self._armed = None, math.inf
        if self._ticks:
            self._arm(self._ticks[0])
        for item in over:
            item.expire()


def _due(item: Expiring) -> float:
    return item.due
