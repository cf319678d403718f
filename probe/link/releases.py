"""Checks that another probe takes over: stopped, and confirmed once their last results are sent."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from probe.link.lanes import Lanes
from probe.schedule.scheduler import Scheduler
from probe.spool.batches import Batcher
from shared.loop import Bell

# Releases that occur within this time are reported together.
_GATHER_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class _PendingRelease:
    """All results of these assignments are in batches up to *seq*."""

    incarnation: int
    seq: int
    numbers: Sequence[int]


class Releases:
    """Releases assignments within a session: *scheduler* stops, *batcher* seals, `next` reports them."""

    def __init__(self, scheduler: Scheduler, batcher: Batcher, bell: Bell) -> None:
        """*bell* rings when `next` may return something."""
        self._scheduler = scheduler
        self._batcher = batcher
        self._bell = bell
        self._gathered: list[int] = []
        self._ready: deque[_PendingRelease] = deque()

    def ask(self, number: int) -> None:
        """Release an assignment as soon as possible."""
        self._scheduler.release(number, self._let_go)

    def next(self, lanes: Lanes) -> Sequence[int]:
        """The releases to report now, whose results *lanes* have sent to the collector."""
        if self._ready and lanes.sent(self._ready[0].incarnation, self._ready[0].seq):
            return self._ready.popleft().numbers
        return ()

    def end(self) -> None:
        """The session has ended, so nobody takes over: continue all checks."""
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
            self._ready.append(_PendingRelease(self._batcher.incarnation, self._batcher.seq, self._gathered))
            self._gathered = []
            self._bell.ring()
