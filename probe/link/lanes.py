"""Chooses the next batch to send: fresh results first, the backlog of an outage beside them."""

import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final

import structlog

from probe.spool.batches import Batcher
from probe.spool.segments import Sealed
from probe.spool.spool import Spool

log = structlog.get_logger()

# An incarnation is sent in order. So with a backlog of more than a few seconds, fresh results get their own
# incarnation and overtake it. A collector accepts only a limited number of incarnations per session.
BACKLOG: Final = 500
_RENEW_APART_S: Final = 60.0
_MOST_RENEWALS: Final = 8


class _Lane:
    __slots__ = ("reader", "sent")

    def __init__(self, spool: Spool, incarnation: int, seq: int) -> None:
        self.reader = spool.read_after(incarnation, seq)
        self.sent: deque[int] = deque()


class Lanes:
    """The sending side of a session, created after the collector's welcome."""

    def __init__(
        self,
        spool: Spool,
        batcher: Batcher,
        told: Iterable[tuple[int, int, int]],
        committed: Mapping[int, int],
        max_unacked: int,
    ) -> None:
        """*told*: the ranges reported to the collector; *committed*: its last seq of each incarnation."""
        self._spool = spool
        self._batcher = batcher
        self._committed = committed
        self._max_unacked = max_unacked
        self._reserve = max_unacked // 4  # window that the backlog leaves to fresh results
        self._renewals = 0
        self._renewed_at = -_RENEW_APART_S
        self._lanes: dict[int, _Lane] = {}
        self.blocked = False  # there may be more after an acknowledgement
        batcher.owed = spool.ledger.owed
        if committed.get(batcher.incarnation, 0) > batcher.seq:
            self._start_anew()
        for incarnation, _, last in told:
            seq = committed.get(incarnation, 0)
            spool.acked(incarnation, seq)
            if last > seq:
                self._lanes[incarnation] = _Lane(spool, incarnation, seq)

    @property
    def unacked(self) -> int:
        return sum(len(lane.sent) for lane in self._lanes.values())

    def next(self) -> Sealed | None:
        """The next batch to send, if any."""
        room = self._max_unacked - self.unacked
        self.blocked = room <= 0
        if self.blocked:
            return None
        fresh = self._fresh()
        sealed = _take(fresh)
        if sealed:
            return sealed
        self.blocked = room <= self._reserve
        return None if self.blocked else self._next_of_backlog(fresh)

    def sent(self, incarnation: int, seq: int) -> bool:
        """Whether all batches of the incarnation up to *seq* were sent."""
        lane = self._lanes.get(incarnation)
        return lane is None or lane.reader.seq >= seq

    def acked(self, incarnation: int, seq: int) -> None:
        """The collector has committed all up to *seq*."""
        lane = self._lanes.get(incarnation)
        if lane is None:
            return
        while lane.sent and lane.sent[0] <= seq:
            lane.sent.popleft()
        self._spool.acked(incarnation, min(seq, lane.reader.seq))

    def close(self) -> None:
        for lane in self._lanes.values():
            lane.reader.close()

    def _start_anew(self) -> None:
        """Renumber batches sealed after the probe was set back: their numbers look old to the collector."""
        log.error("probe state was rolled back; continuing as a new incarnation")
        incarnation = self._batcher.incarnation
        acked = self._spool.ledger.acked(incarnation)
        unsent = self._spool.read_after(incarnation, acked)
        while unsent.next():
            pass
        unsent.close()
        if unsent.stuck:
            raise TimeoutError("the spool cannot be read just now")
        unsent = self._spool.read_after(incarnation, acked)
        self._batcher.renew()
        while sealed := unsent.next():
            self._batcher.repeat(sealed.data)
        unsent.close()

    def _fresh(self) -> _Lane:
        """The lane of the current incarnation."""
        lane = self._lanes.get(self._batcher.incarnation)
        if lane and self._batcher.seq - lane.reader.seq > BACKLOG and self._may_renew():
            self._batcher.renew()
            lane = None
        if lane is None:
            incarnation = self._batcher.incarnation
            lane = _Lane(self._spool, incarnation, self._committed.get(incarnation, 0))
            self._lanes[incarnation] = lane
        return lane

    def _may_renew(self) -> bool:
        now = time.monotonic()
        if self._renewals >= _MOST_RENEWALS or now - self._renewed_at < _RENEW_APART_S:
            return False
        self._renewals, self._renewed_at = self._renewals + 1, now
        return True

    def _next_of_backlog(self, fresh: _Lane) -> Sealed | None:
        for incarnation, lane in list(self._lanes.items()):
            if lane is fresh:
                continue
            sealed = _take(lane)
            if sealed:
                return sealed
            if not lane.sent and not lane.reader.stuck:
                lane.reader.close()
                del self._lanes[incarnation]
        return None


def _take(lane: _Lane) -> Sealed | None:
    sealed = lane.reader.next()
    if sealed:
        lane.sent.append(sealed.seq)
    return sealed
