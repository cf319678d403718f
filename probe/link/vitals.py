"""The probe's vitals, as it reports them to the collector."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from probe.clock import wall_us
from probe.link.plan import Plan
from probe.schedule.scheduler import Scheduler
from probe.spool.spool import Spool

_STATM: Final = Path("/proc/self/statm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """Counts since the start of the process; *late_us_max*: since it was last reported."""

    wall_us: int
    started: int
    skipped: int
    running: int
    late_us_max: int
    spool_bytes: int
    spool_batches: int
    dropped: int
    rss_bytes: int
    blind: bool
    plan: int
    plan_hash: int


def take(scheduler: Scheduler, spool: Spool, plan: Plan, *, blind: bool) -> Vitals:
    """The current vitals; *blind*: whether the probe reaches nothing but its own machine."""
    return Vitals(
        wall_us=wall_us(),
        started=scheduler.started,
        skipped=scheduler.skipped,
        running=scheduler.running,
        late_us_max=min(scheduler.late.take_most_us(), 2**32 - 1),
        spool_bytes=spool.bytes,
        spool_batches=spool.unacked,
        dropped=spool.results_lost,
        rss_bytes=_rss_bytes(),
        blind=blind,
        plan=plan.number,
        plan_hash=plan.hash,
    )


def _rss_bytes() -> int:
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
