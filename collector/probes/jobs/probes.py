"""Hands over the checks of probes that connected, left or fell silent."""

from datetime import datetime, timedelta
from typing import Any

import structlog

from collector.platform.clock import TrustedClock
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.core.assignment import KEPT, LIVE, ProbeCandidate
from collector.probes.service.assignments import rebalance
from collector.probes.storage import plans, probes
from collector.probes.storage.plans import PlacedMonitor
from shared.loop import Bell

log = structlog.get_logger()

# A probe releases an assignment when its check ends; after this time it is reassigned anyway.
_ASKED = timedelta(seconds=10)
# A turn delayed by this much means that the process was suspended, or the database unavailable.
_AWAY = timedelta(seconds=5)


class Probes:
    """Rebalances assignments when the set of probes has changed; ring *bell* when a probe connects."""

    def __init__(
        self,
        db: Db,
        signals: Signals,
        clock: TrustedClock,
    ) -> None:
        self.bell = Bell()
        self._db = db
        self._signals = signals
        self._clock = clock
        self._seen: Any = None
        self._turned_at: datetime | None = None
        self._back_at: datetime | None = None
        self._asked_at: dict[PlacedMonitor, datetime] = {}

    async def turn(self) -> bool:
        now = self._clock.now()
        patient = self._patient(now)
        async with self._db.connection() as tx:
            seen = (patient, [_presence(probe, now) for probe in await probes.candidates(tx)])
        overdue = {held for held, at in self._asked_at.items() if now - at >= _ASKED}
        if seen == self._seen and not overdue:
            self._turned_at = self._clock.now()
            return False
        async with self._db.transaction() as tx:
            moves = await rebalance(tx, now, patient=patient, gently=True, overdue=overdue)
        async with self._db.transaction() as tx:
            await plans.sweep(tx)
        self._seen, self._turned_at = seen, self._clock.now()
        self._asked_at = {held: self._asked_at.get(held, now) for held in moves.holdings}
        if moves.moved or moves.asked:
            log.info("assignments moved", moved=moves.moved, asked=moves.asked)
            self._signals.ring()
        return False

    def _patient(self, now: datetime) -> bool:
        """Whether probes could not reach us recently; then their silence counts from our return."""
        if self._turned_at is not None and now - self._turned_at > _AWAY:
            self._back_at = now
        since = self._clock.trusted_since()
        if since is None or now - since < LIVE:
            return True
        return self._back_at is not None and now - self._back_at < LIVE


def _presence(probe: ProbeCandidate, now: datetime) -> tuple[object, ...]:
    """All properties of a probe that assignments depend on."""
    return (
        probe.probe_id,
        probe.team_id,
        probe.locations,
        probe.kinds,
        probe.stands_in,
        probe.draining,
        probe.alive(now),
        probe.heard(now, KEPT),
    )
