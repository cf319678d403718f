"""Results of a monitor as callers read them: a page, and how many there are in all."""

from datetime import UTC, datetime, timedelta

from collector.core import window
from collector.core.window import DAY, HOUR
from collector.services.charts import kept_since
from collector.storage import result_reads, rollup_reads
from collector.storage.db import Db, Tx
from collector.storage.monitors import Monitor
from collector.storage.result_reads import Result, Wanted
from shared.clock import EPOCH
from shared.results import Status

_MS = timedelta(milliseconds=1)
# Nothing was measured later, and whoever counts on from here stays within what a datetime can say.
_LAST = datetime(9999, 1, 1, tzinfo=UTC)


async def page(
    db: Db, monitor: Monitor, wanted: Wanted, limit: int, now: datetime
) -> tuple[list[Result], int]:
    """The newest of what is wanted, and how many there are."""
    async with db.connection() as tx:
        shown = await result_reads.newest(tx, monitor.monitor, wanted, limit)
        if wanted.before is None and len(shown) < limit:
            return shown, len(shown)
        return shown, await _count(tx, monitor.monitor, wanted, now)


async def _count(tx: Tx, monitor: int, wanted: Wanted, now: datetime) -> int:
    """From rollups where they know the number, which is more than they need for any rate."""
    since, until = _in_ms(wanted.since), min(wanted.until, _LAST)
    until = until - (until - EPOCH) % _MS + _MS
    if until <= since:
        return 0
    kept = await kept_since(tx, since, now)
    # Rollups outlive their results: before this they tell of what is there no longer.
    start = min(max(since, kept), until)
    extent = await rollup_reads.extent(tx, monitor, start, until)
    step = DAY if wanted.status in (None, Status.UP) else HOUR
    parts = window.divide(start, until, step, rolled_until=extent.until, dirty=frozenset(extent.dirty))
    tally = await rollup_reads.tally(
        tx, monitor, parts.days, parts.hours, location=wanted.location, status=wanted.status
    )
    raw = [(since, start), *parts.raw, *((at, at + HOUR) for at in tally.unsettled)]
    total = tally.total
    for near in window.clusters(raw):
        total += await result_reads.count(tx, monitor, near, location=wanted.location, status=wanted.status)
    return total


def _in_ms(at: datetime) -> datetime:
    return at + (EPOCH - at) % _MS
