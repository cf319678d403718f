"""Signals between collectors through the database: sent in a transaction, received by every process."""

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import structlog

from collector.platform.storage import signals as table
from collector.platform.storage.db import Db, Tx
from shared.clock import SecondClock
from shared.loop import Bell

log = structlog.get_logger()

KINDS = {
    "plan": 'what probes run has changed: {"probes": {probe id: [monitor, ...]}}',
    "release": 'probes are to let go of monitors that others will take over: as "plan"',
    "run": 'a session is to check something now: {"session", "id", "run", ...}, see monitors/service/runs.py',
    "revoked": 'a probe is one no more, its stream ends: {"probe"}',
    "answer": 'what a test came to: {"id", "status", "code", "error", "phases", "durationUs"}',
}

Hear = Callable[[dict[str, Any]], Awaitable[None]]

_AT_ONCE = 500
_MAX_SEEN = 10_000
_NOTIFY_EVERY_S = 1.0
_EXPIRE_EVERY_S = 30.0
# Handled signals are remembered for longer than they last: setting a clock cannot repeat one.
_SLACK_S = 60.0


async def send(tx: Tx, kind: str, payload: dict[str, Any], lasts: timedelta) -> None:
    """Send a signal to every collector, valid for *lasts*, in the caller's transaction.

    Calling `Signals.ring` after its commit speeds up delivery.
    """
    if kind not in KINDS:
        raise ValueError(f"no such kind of signal: {kind}")
    await table.add(tx, kind, payload, lasts)


class Signals:
    """Reads each new signal once and dispatches it to the subscribers of its kind; one per process."""

    def __init__(self, db: Db, clock: SecondClock = time.monotonic) -> None:
        self.bell = Bell()
        self._db = db
        self._clock = clock
        self._hearers: defaultdict[str, list[Hear]] = defaultdict(list)
        self._seen: dict[int, float] = {}
        self._floor = 0
        self._owed = False
        self._notified_at = float("-inf")
        self._expired_at = float("-inf")

    def subscribe(self, kind: str, hear: Hear) -> Callable[[], None]:
        """Call *hear* with the payload of each signal of *kind*; return a function that unsubscribes."""
        self._hearers[kind].append(hear)
        return lambda: self._hearers[kind].remove(hear)

    def ring(self) -> None:
        """Call after committing a signal: read it here now, and wake the other collectors."""
        self._owed = True
        self.bell.ring()

    async def turn(self) -> bool:
        """Read and dispatch new signals."""
        async with self._db.connection() as tx:
            signals = await table.unread(tx, self._floor, list(self._seen), _AT_ONCE)
            await self._wake_others(tx)
            await self._expire(tx)
        for signal in signals:
            self._seen[signal.signal] = self._clock() + signal.left_s + _SLACK_S
            await self._dispatch(signal)
        self._forget()
        return len(signals) == _AT_ONCE

    async def listen(self) -> bool:
        """Wait for NOTIFY until the connection breaks; only a hint, since turns are taken anyway."""
        async with self._db.connection() as tx:
            await table.listen(tx, self.bell.ring)
        return False

    async def _dispatch(self, signal: table.Signal) -> None:
        for hear in tuple(self._hearers[signal.kind]):
            try:
                await hear(signal.payload)
            except Exception:
                log.exception("signal handler failed", kind=signal.kind, signal=signal.signal)

    async def _wake_others(self, tx: Tx) -> None:
        """NOTIFY takes a cluster-wide lock at commit, so at most once a second; the first at once."""
        now = self._clock()
        if self._owed and now - self._notified_at >= _NOTIFY_EVERY_S:
            await table.notify(tx)
            self._owed, self._notified_at = False, now

    async def _expire(self, tx: Tx) -> None:
        now = self._clock()
        if now - self._expired_at >= _EXPIRE_EVERY_S:
            await table.expire(tx)
            self._expired_at = now

    def _forget(self) -> None:
        now = self._clock()
        self._seen = {number: until for number, until in self._seen.items() if until > now}
        if len(self._seen) > _MAX_SEEN:
            kept = sorted(self._seen)[-_MAX_SEEN // 2 :]
            self._floor = kept[0] - 1
            self._seen = {number: self._seen[number] for number in kept}
