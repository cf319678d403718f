"""Notifies the owners of probes that are offline, see nothing, or recovered: once each."""

from datetime import datetime, timedelta
from typing import Final

import structlog

from collector.platform import metrics
from collector.platform.clock import TrustedClock
from collector.platform.storage.db import Db
from collector.probes.core.presence import PresenceChange, change
from collector.probes.service import notices
from collector.probes.storage import watch

log = structlog.get_logger()

# After a longer pause between two turns, probes may have called in vain: their silence is measured anew.
_GAP: Final = timedelta(seconds=30)
_AT_ONCE: Final = 50


class ProbeWatch:
    """Notifies owners of probes about their presence. Any number may run."""

    def __init__(
        self,
        db: Db,
        clock: TrustedClock,
    ) -> None:
        self._db = db
        self._clock = clock
        self._turned_at: datetime | None = None
        self._listening_since = clock.now()

    async def turn(self) -> bool:
        now = self._clock.now()
        if self._turned_at is None or not timedelta() <= now - self._turned_at <= _GAP:
            self._listening_since = now
        async with self._db.connection() as tx:
            watched = await watch.all_(tx)
        # Set only now: while the database is unavailable, no probe can be recorded as heard.
        self._turned_at = now
        metrics.probes_blind.set(sum(probe.presence.blind_since is not None for probe in watched))
        started = self._clock.trusted_since()
        if started is None:
            return False
        since = max(started, self._listening_since)
        changed = [probe.probe_id for probe in watched if change(probe.presence, since, now)]
        if not changed:
            return False
        async with self._db.transaction() as tx:
            changes = await notices.notify_owners(tx, changed[:_AT_ONCE], since, now)
        for what in changes:
            metrics.probe_notices.labels("online" if what is PresenceChange.BACK else what.value).inc()
        if changes:
            log.info("owners of probes notified", changes=[what.value for what in changes])
        return len(changed) > _AT_ONCE
