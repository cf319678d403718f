"""Results of a monitor for callers: a page, and the total."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from collector.history.core import window
from collector.history.core.window import DAY, HOUR, Between
from collector.history.service.charts import kept_since
from collector.history.storage import result_reads, rollup_reads
from collector.history.storage.result_reads import Result, ResultFilter
from collector.monitors.storage.monitors import Monitor
from collector.platform.storage.db import Db, Tx
from shared.clock import EPOCH
from shared.results import Status

_MS = timedelta(milliseconds=1)
# For ranges longer than this it is faster to find out first which hours to read.
_LONG = 2 * DAY
_TOGETHER = 12
_A_PAGE = 1_000
# No result is later, and arithmetic from here stays within the range of datetime.
_LAST = datetime(9999, 1, 1, tzinfo=UTC)


async def page(
    db: Db, monitor: Monitor, wanted: ResultFilter, limit: int, now: datetime
) -> tuple[list[Result], int]:
    """Return the newest of the wanted results, and their total number."""
    async with db.connection() as tx:
        shown = await _newest(tx, monitor.monitor, wanted, limit, now)
        if wanted.before is None and len(shown) < limit:
            return shown, len(shown)
        return shown, await _count(tx, monitor.monitor, wanted, now)


async def newest(db: Db, monitor: Monitor, wanted: ResultFilter, limit: int, now: datetime) -> list[Result]:
    """Return the newest of the wanted results, without their total number."""
    async with db.connection() as tx:
        return await _newest(tx, monitor.monitor, wanted, limit, now)


async def pages(
    db: Db, monitor: Monitor, wanted: ResultFilter, now: datetime
) -> AsyncIterator[Sequence[Result]]:
    """Yield all of the wanted results, newest first, in pages; no connection is held between two pages."""
    while shown := await newest(db, monitor, wanted, _A_PAGE, now):
        yield shown
        if len(shown) < _A_PAGE:
            return
        wanted = replace(wanted, before=shown[-1].cursor)


async def _newest(tx: Tx, monitor: int, wanted: ResultFilter, limit: int, now: datetime) -> list[Result]:
    """Of a long range, read only what is asked for: packed days are unpacked to be put in order.

    For a rare status that is the hours that have results of it, else the last days, then those before.
    """
    until = min(wanted.until, wanted.before.ts if wanted.before else _LAST, _LAST)
    if until - wanted.since < _LONG:
        return await result_reads.newest(tx, monitor, wanted, limit)
    since = _in_ms(wanted.since)
    until = until - (until - EPOCH) % _MS + _MS
    if wanted.status in (None, Status.UP):
        return await _newest_within(tx, monitor, wanted, limit, _growing(since, until))
    start = min(max(since, await kept_since(tx, since, now)), until)
    extent = await rollup_reads.extent(tx, monitor, start, until)
    parts = window.divide(start, until, HOUR, rolled_until=extent.until, dirty=frozenset(extent.dirty))
    hours = await rollup_reads.troubled(
        tx, monitor, parts.hours, location=wanted.location, status=wanted.status
    )
    near = _backwards([(since, start), *parts.raw, *((at, at + HOUR) for at in hours)])
    return await _newest_within(tx, monitor, wanted, limit, near)


async def _newest_within(
    tx: Tx, monitor: int, wanted: ResultFilter, limit: int, spans: Iterable[list[Between]]
) -> list[Result]:
    results: list[Result] = []
    for near in spans:
        results += await result_reads.newest_within(tx, monitor, wanted, limit - len(results), near)
        if len(results) == limit:
            break
    return results


def _growing(since: datetime, until: datetime) -> Iterator[list[Between]]:
    """Yield the range from its end, each part four times as long as the one after it."""
    length = DAY
    while since < until:
        start = until - min(length, until - since)
        yield [(start, until)]
        until, length = start, 4 * length


def _backwards(spans: Iterable[Between]) -> Iterator[list[Between]]:
    """Yield spans newest first, a few adjacent ones together: in a long outage the first few fill a page."""
    for near in reversed(window.clusters(spans)):
        for end in range(len(near), 0, -_TOGETHER):
            yield near[max(0, end - _TOGETHER) : end]


async def _count(tx: Tx, monitor: int, wanted: ResultFilter, now: datetime) -> int:
    """Count by rollups where they have the number, which is more than they need for rates."""
    since, until = _in_ms(wanted.since), min(wanted.until, _LAST)
    until = until - (until - EPOCH) % _MS + _MS
    if until <= since:
        return 0
    kept = await kept_since(tx, since, now)
    # Rollups outlive their results: before this they count deleted ones.
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
