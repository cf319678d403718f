"""Each probe's internal monitor: stores its vitals by the hour."""

from datetime import timedelta
from typing import Final

from collector.metrics.core.agent_metrics import sample
from collector.metrics.storage import agent_metrics
from collector.platform.clock import Clock
from collector.platform.storage import leases
from collector.platform.storage.db import Db
from shared.ids import uuid7

_LEASE: Final = "agent metrics"
_HELD: Final = timedelta(seconds=30)


class AgentMetrics:
    """Samples the probes' metrics. Any number may run; one of them works."""

    def __init__(self, db: Db, *, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._me = uuid7()

    async def turn(self) -> bool:
        now = self._clock.now()
        async with self._db.transaction() as tx:
            if await leases.take(tx, _LEASE, self._me, _HELD) is None:
                return False
            reports = await agent_metrics.live(tx, now)
            if reports:
                await agent_metrics.add(
                    tx, [(report, sample(report.vitals, report.counters)) for report in reports], now
                )
        return False
