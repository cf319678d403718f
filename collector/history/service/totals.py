"""The numbers of a monitor over any spans, from days, hours and, at their edges, raw results."""

from collections.abc import Sequence
from datetime import datetime

from collector.history.core import window
from collector.history.core.rollup import Rollup
from collector.history.core.window import DAY, Between
from collector.history.storage import live_rollups, rollup_reads
from collector.platform.storage.db import Tx


async def rows_of(tx: Tx, monitor: int, spans: Sequence[Between], now: datetime) -> list[Rollup]:
    """Return rollups of the monitor as a whole that cover *spans* exactly, as far as they are over.

    The spans are in order and do not overlap. Where raw results have expired, parts of hours are left out.
    """
    past = [(since, min(until, now)) for since, until in spans if since < now]
    if not past:
        return []
    extent = await rollup_reads.extent(tx, monitor, past[0][0], past[-1][1])
    days: list[Between] = []
    hours: list[Between] = []
    raw: list[Between] = []
    for since, until in past:
        parts = window.divide(since, until, DAY, rolled_until=extent.until, dirty=frozenset(extent.dirty))
        days += parts.days
        hours += parts.hours
        raw += parts.raw
    rows = await rollup_reads.within(tx, monitor, days, hours) if days or hours else []
    if raw:
        rows += (await live_rollups.rollups(tx, [monitor], raw, DAY)).get(monitor, [])
    return [row for row in rows if row.place is None]
