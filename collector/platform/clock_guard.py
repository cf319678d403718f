"""Detects wall-clock steps: after one, silence cannot be judged until the clock was stable for 30 s."""

from datetime import datetime, timedelta

import structlog

from collector.platform.clock import Clock
from collector.platform.deadlines import SETTLING
from shared.clock import EPOCH, MicrosecondClock, boot_us

log = structlog.get_logger()

_STEP = timedelta(seconds=5)


class ClockGuard:
    """Compares the wall clock with the boot clock, which is never set; one per collector."""

    def __init__(self, clock: Clock, boot_us: MicrosecondClock = boot_us) -> None:
        self._clock = clock
        self._boot_us = boot_us
        self._since = self.now()
        self._booted_at = self._boot()
        self._untrusted_until = 0

    def now(self) -> datetime:
        return self._clock.now()

    def trusted_since(self) -> datetime | None:
        """When this collector started or its clock was last set; None for a while after either."""
        booted_at, boot = self._boot(), self._boot_us()
        step = booted_at - self._booted_at
        self._booted_at = booted_at
        if abs(step) > _STEP:
            log.warning("wall clock was set", seconds=step.total_seconds())
            self._since = self.now()
            self._untrusted_until = boot + SETTLING // timedelta(microseconds=1)
        return None if boot < self._untrusted_until else self._since

    def _boot(self) -> datetime:
        """The time of the boot; it changes when the wall clock is set."""
        return max(EPOCH, self.now() - timedelta(microseconds=self._boot_us()))
