"""Probes that came, went or fell silent: what they check is handed on."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import structlog

from collector.core.assignment import KEPT, LIVE, Probe
from collector.services.assignments import rebalance
from collector.services.signals import Signals
from collector.storage import plans, probes
from collector.storage.db import Db
from shared.loop import Bell

log = structlog.get_logger()


class Probes:
    """Rebalances when who is there has changed since its last turn; ring *bell* when a probe has come.

    *since*: when this collector started or its clock was set; None while that has only just happened.
    """

    def __init__(
        self,
        db: Db,
        signals: Signals,
        *,
        since: Callable[[], datetime | None],
        now: Callable[[], datetime],
    ) -> None:
        self.bell = Bell()
        self._db = db
        self._signals = signals
        self._now = now
        self._since = since
        self._seen: Any = None

    async def turn(self) -> bool:
        now = self._now()
        # While we were away nobody could reach us: silence counts from our start.
        since = self._since()
        patient = since is None or now - since < LIVE
        async with self._db.connection() as tx:
            seen = (patient, [_presence(probe, now) for probe in await probes.candidates(tx)])
        if seen == self._seen:
            return False
        async with self._db.transaction() as tx:
            moved = await rebalance(tx, now, patient=patient)
        async with self._db.transaction() as tx:
            await plans.sweep(tx)
        self._seen = seen
        if moved:
            log.info("assignments moved", count=moved)
            self._signals.ring()
        return False


def _presence(probe: Probe, now: datetime) -> tuple[object, ...]:
    """All of a probe that assignments depend on."""
    return (
        probe.probe_id,
        probe.team_id,
        probe.locations,
        probe.kinds,
        probe.stands_in,
        probe.draining,
        probe.alive(now),
        probe.alive(now, KEPT),
    )
