"""Computes the state of an SLO: its SLI, the budget and the burn rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from collector.history.core import uptime
from collector.history.core.histogram import BOUNDS, bucket_of
from collector.history.core.rollup import Rollup
from collector.history.core.window import DAY, HOUR, Between, ceiling, floor
from collector.history.storage import live_rollups
from collector.platform.storage.db import Db, Tx
from collector.slos.core import burning, period
from collector.slos.core.budget import (
    BudgetUse,
    Cell,
    SloTally,
    budget,
    by_monitor,
    exhausted_at,
    overlaps,
    tally,
)
from collector.slos.core.burning import Burn
from collector.slos.core.period import PeriodSpan
from collector.slos.core.settings import MOST_MONITORS
from collector.slos.storage import measures, slos
from collector.slos.storage.slos import SloMonitor, SloRow

_MINUTE = timedelta(minutes=1)
# If more hours than this await their rollup, the older ones are left out.
_LIVE = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class MonitorState:
    """The numbers of one monitor of an SLO."""

    monitor: SloMonitor
    tally: SloTally
    budget: BudgetUse


@dataclass(frozen=True, slots=True)
class SloState:
    """The numbers of an SLO at a moment; those of its worst monitor if its target holds for each.

    *counted_ms*: the longest response time that counts as fast, None unless its indicator is latency.
    """

    span: PeriodSpan
    tally: SloTally
    budget: BudgetUse
    burns: list[Burn]
    exhausted_at: datetime | None
    counted_ms: int | None
    monitors: list[MonitorState]


@dataclass(frozen=True, slots=True)
class KnownSlo:
    """An SLO with its state."""

    row: SloRow
    state: SloState


async def slos_of(db: Db, team_id: int, at: datetime) -> list[KnownSlo]:
    """Return all SLOs of the team, newest first, each with its state at that moment."""
    async with db.connection() as tx:
        rows = await slos.newest(tx, team_id, None, 0)
    return [KnownSlo(row, await state_of(db, row, at)) for row in rows]


async def state_of(db: Db, row: SloRow, now: datetime) -> SloState:
    """Compute the state of a stored SLO."""
    async with db.transaction() as tx:
        await live_rollups.plan_once(tx)
        return await state(tx, row, now)


async def state(tx: Tx, row: SloRow, now: datetime) -> SloState:
    """Compute the state from sums of days and hours, and from results since the last rollup."""
    span = period.span(row.period, row.timezone, now)
    found = await slos.monitors(tx, row.team_id, row.id, MOST_MONITORS)
    bucket = bucket_of(row.threshold_ms) if row.threshold_ms is not None else None
    cells = await _cells(tx, [monitor.number for monitor in found], bucket, span, now)
    of_each = by_monitor(cells)
    each = [_of_monitor(row, monitor, of_each.get(monitor.number, ()), span, now) for monitor in found]
    counted_ms = BOUNDS[bucket] - 1 if bucket is not None else None
    if row.combine == "each" and each:
        worst = max(each, key=lambda known: known.budget.used_percent)
        counted, outages = of_each.get(worst.monitor.number, ()), list[uptime.Span]()
    else:
        counted = cells
        numbers = [monitor.number for monitor in found]
        since = min(span.since, now - burning.LONGEST - HOUR)
        outages = await measures.outages(tx, numbers, since, now) if overlaps(cells) else []

    def measured(since: datetime) -> SloTally:
        return tally(counted, row.indicator, since, now, outages=outages)

    whole = measured(span.since)
    left = budget(whole, row.target, span, now)
    return SloState(
        span=span,
        tally=whole,
        budget=left,
        burns=burning.burns(row.period, row.target, now, measured),
        exhausted_at=exhausted_at(left, measured(burning.begin(now, DAY)), span, now),
        counted_ms=counted_ms,
        monitors=each,
    )


def _of_monitor(
    row: SloRow, monitor: SloMonitor, cells: Sequence[Cell], span: PeriodSpan, now: datetime
) -> MonitorState:
    own = tally(cells, row.indicator, span.since, now)
    return MonitorState(monitor, own, budget(own, row.target, span, now))


async def _cells(
    tx: Tx, monitors: Sequence[int], bucket: int | None, span: PeriodSpan, now: datetime
) -> list[Cell]:
    """Return cells from the period's start, or that of the longest burn rate if it is earlier."""
    if not monitors:
        return []
    rolled = await measures.rolled_until(tx)
    live = floor(max(min(rolled or now - _LIVE, now - burning.BY_MINUTE), now - _LIVE), HOUR)
    recent = floor(now - burning.LONGEST - HOUR, DAY)
    since = ceiling(min(span.since, recent), HOUR)
    days = [(ceiling(since, DAY), recent)] if ceiling(since, DAY) < recent else []
    hours = [(since, days[0][0]), (recent, live)] if days else [(since, live)]
    found = await measures.cells(tx, monitors, bucket, days, [part for part in hours if part[0] < part[1]])
    raw: list[Between] = [(live, now)] if live < now else []
    if span.since < since:  # a time zone whose midnight is within an hour of UTC
        raw.insert(0, (span.since, since))
    for number, rows in (await live_rollups.rollups(tx, monitors, raw, _MINUTE)).items():
        found += [_cell(number, row, bucket, now) for row in rows if row.place is None]
    return found


def _cell(number: int, row: Rollup, bucket: int | None, now: datetime) -> Cell:
    slow = 0
    if bucket is not None:
        slow = sum(count for at, count in zip(row.buckets, row.counts, strict=True) if at > bucket)
    return Cell(
        monitor=number,
        at=row.at,
        until=min(row.at + _MINUTE, now),
        known_ms=row.known_ms,
        down_ms=row.down_ms,
        good=row.good,
        failed=row.failed,
        answers=row.answers,
        slow=slow,
    )
