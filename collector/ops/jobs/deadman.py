"""Dead man's switch: pings a URL each minute while all is well, so that its receiver misses us."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

import structlog

from collector.history.storage import partitions
from collector.ops.job_health import Pulse
from collector.platform import metrics
from collector.platform.storage import leases
from collector.platform.storage.db import Db, Tx
from collector.platform.transport import NoAnswer, Transport
from collector.probes.storage import watch
from shared.clock import UtcClock
from shared.errors import Unavailable

log = structlog.get_logger()

_EVERY: Final = timedelta(minutes=1)
# Turns are seconds apart: a dead process is replaced within a minute.
_LEASE: Final = timedelta(seconds=30)
_RESTS: Final = timedelta(seconds=10)
# How long a probe may take to connect when everything starts together.
_START: Final = timedelta(seconds=10)
_TIMEOUT_S: Final = 10.0
_LEASED: Final = "deadman"
# Held by a process whose own work has stalled: it keeps the others from reporting health.
_VETO: Final = "deadman veto"
_HEADERS: Final = {"User-Agent": "Tocsin"}


class Deadman:
    """Pings from one process of the deployment, unless work in any process has stalled.

    *pulse*: tracks all other background work of this process.
    """

    def __init__(self, db: Db, transport: Transport, url: str, pulse: Pulse, *, now: UtcClock) -> None:
        self._db = db
        self._transport = transport
        self._url = url
        self._pulse = pulse
        self._now = now
        self._owner = uuid4()
        self._due = now() + _START
        self._logged: str | None = None

    async def turn(self) -> bool:
        """Ping if it is due, this process holds the lease, and everything is healthy."""
        now = self._now()
        is_due = not now < self._due <= now + _EVERY  # a larger distance means that the clock was set back
        try:
            async with self._db.transaction() as tx:
                mine, wrong = await self._hold(tx)
                if mine and is_due:
                    wrong = await _amiss(tx, self._owner, now)
        except Unavailable:
            mine, wrong = True, "the database cannot be written to"
        if not is_due:
            return False
        if wrong:
            self._say(wrong)
        elif not mine:
            self._logged = None
        else:
            # No drift from the rests between turns, and no catching up after a pause.
            self._due = (self._due if timedelta() <= now - self._due < _RESTS else now) + _EVERY
            await self._ping()
        return False

    async def _hold(self, tx: Tx) -> tuple[bool, str]:
        """Take the lease or the veto; return whether this process pings, and its own error."""
        if still := self._pulse.still():
            await leases.take(tx, _VETO, self._owner, _LEASE)
            return False, f"work stands still: {', '.join(still)}"
        return await leases.take(tx, _LEASED, self._owner, _LEASE) is not None, ""

    async def _ping(self) -> None:
        try:
            answer = await self._transport.request("GET", self._url, _HEADERS, b"", timeout_s=_TIMEOUT_S)
        except NoAnswer as error:
            wrong = str(error)
        else:
            wrong = "" if 200 <= answer.status < 300 else f"answered {answer.status}"
        metrics.deadman_pings.labels("failed" if wrong else "sent").inc()
        self._say(wrong and f"the ping failed: {wrong}")

    def _say(self, wrong: str) -> None:
        """Log each change once."""
        if wrong == self._logged:
            return
        self._logged = wrong
        if wrong:
            log.warning("no ping that all is well", reason=wrong)
        else:
            log.info("pings that all is well")


async def _amiss(tx: Tx, owner: UUID, now: datetime) -> str:
    """What is wrong outside this process, if anything."""
    if await leases.held(tx, _VETO, _LEASE, besides=owner):
        return "work stands still in another process"
    probes = [watched.presence for watched in await watch.all_(tx)]
    if not any(probe.live(now) and not probe.draining for probe in probes):
        return "no probe is live"
    if await partitions.strays(tx):
        return "results are stored outside of every day"
    return ""
