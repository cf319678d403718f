"""Checks that another probe takes over: stopped, and confirmed once their last results are sent."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from probe.schedule.scheduler import Scheduler
from probe.spool.batches import Batcher

# Those that come so close together are told of together.
_GATHER_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class _Ready:
    """All results of these assignments lie in batches up to *seq*."""

    incarnation: int
    seq: int
    numbers: Sequence[int]


class Releases:
    """*scheduler* lets go, *batcher* closes the batch, `next` says what may be told. All of one session."""

    def __init__(self, scheduler: Scheduler, batcher: Batcher, ring: Callable[[], None]) -> None:
        """*ring* is called when `next` may have something new."""
        self._scheduler = scheduler
        self._batcher = batcher
        self._ring = ring
        self._gathered: list[int] = []
        self._ready: deque[_Ready] = deque()

    def ask(self, number: int) -> None:
        """Let go of an assignment as soon as that can be."""
        self._scheduler.release(number, self._let_go)

    def next(self, sent: Callable[[int, int], bool]) -> Sequence[int]:
        """What may be told now; *sent* says whether a batch is on its way to the collector."""
        if self._ready and sent(self._ready[0].incarnation, self._ready[0].seq):
            return self._ready.popleft().numbers
        return ()

    def end(self) -> None:
        """The session is over, and nobody takes over anything: go on with it all."""
        self._gathered.clear()
        self._ready.clear()
        self._scheduler.resume()

    def _let_go(self, number: int) -> None:
        if not self._gathered:
            asyncio.get_running_loop().call_later(_GATHER_S, self._close)
        self._gathered.append(number)

    def _close(self) -> None:
        if self._gathered:
            self._batcher.seal()
            self._ready.append(_Ready(self._batcher.incarnation, self._batcher.seq, self._gathered))
            self._gathered = []
            self._ring()
