"""The arithmetic of error budgets: cells of measured time, their sums, and what is left."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from collector.history.core import uptime
from collector.slos.core.period import PeriodSpan
from collector.slos.core.settings import IndicatorType

_MS = timedelta(milliseconds=1)


class Cell(NamedTuple):
    """A monitor's numbers of a minute, hour or day; *until*: its end.

    *good* and *failed* count scheduled checks, *answers* good checks of every run, of which *slow* ones took
    longer than the threshold.
    """

    monitor: int
    at: datetime
    until: datetime
    known_ms: int
    down_ms: int
    good: int
    failed: int
    answers: int
    slow: int


@dataclass(frozen=True, slots=True)
class SloTally:
    """Measured time and checks. *lead_ms*: time of the window before anything was measured.

    *bad* of *total*: milliseconds of an outage in known time, or checks.
    """

    known_ms: int = 0
    bad: float = 0.0
    total: float = 0.0
    lead_ms: int = 0

    @property
    def bad_ms(self) -> float:
        """The bad share as time."""
        return self.known_ms * self.bad / self.total if self.total else 0.0

    @property
    def sli(self) -> float | None:
        """The good share in percent, as uptime is rounded; None if nothing was measured."""
        if self.total <= 0:
            return None
        return uptime.share(round(self.total * 1000), round(self.bad * 1000))

    def burn(self, target: float) -> float:
        """How many times as fast as allowed the budget is used. Time before the first measure is good."""
        whole = self.known_ms + self.lead_ms
        return self.bad_ms / whole / allowed(target) if whole else 0.0


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """Milliseconds; *used* may exceed *total*."""

    total_ms: float
    used_ms: float

    @property
    def remaining_ms(self) -> float:
        return max(0.0, self.total_ms - self.used_ms)

    @property
    def used_percent(self) -> float:
        return 100 * self.used_ms / self.total_ms if self.total_ms else 0.0


def allowed(target: float) -> float:
    """Return the share that may be bad, of a *target* in percent."""
    return (100 - target) / 100


def budget(tally: SloTally, target: float, span: PeriodSpan, now: datetime) -> BudgetUse:
    """Return the budget of a period: the allowed share of its known time and of the time still to come.

    Time before the first measure counts as time to come: a new monitor has the budget of a whole period.
    """
    left_ms = max(0, (span.until - now) // _MS)
    return BudgetUse(allowed(target) * (tally.known_ms + tally.lead_ms + left_ms), tally.bad_ms)


def exhausted_at(budget: BudgetUse, recent: SloTally, span: PeriodSpan, now: datetime) -> datetime | None:
    """Return when the budget is used up if it goes on as in *recent*, the time of the last day.

    None if that is after the period's length from now, or after the end of a calendar one; *now* if it is.
    """
    if budget.used_ms >= budget.total_ms:
        return now
    whole = recent.known_ms + recent.lead_ms
    if not whole or not recent.bad_ms:
        return None
    lasts_ms = budget.remaining_ms * whole / recent.bad_ms
    end = span.until if span.until > now else now + span.length
    return now + lasts_ms * _MS if lasts_ms * _MS < end - now else None


def tally(
    cells: Iterable[Cell],
    kind: IndicatorType,
    since: datetime,
    now: datetime,
    *,
    outages: Sequence[uptime.Span] = (),
) -> SloTally:
    """Sum the cells from *since* until now; of several monitors, one that is down suffices.

    *outages*: the union of the monitors' outages without maintenance, in Unix milliseconds; needed where
    several monitors were down in the same cell. Known time of a cell is that of the monitor known longest.
    """
    by_cell: defaultdict[datetime, list[Cell]] = defaultdict(list)
    for cell in cells:
        if cell.at >= since:
            by_cell[cell.at].append(cell)
    known = sum(max(cell.known_ms for cell in group) for group in by_cell.values())
    first = min((group[0].at for group in by_cell.values() if any(map(_measured, group))), default=now)
    lead_ms = max(0, (first - since) // _MS)
    if kind == "availability":
        bad = sum(_down_ms(group, outages) for group in by_cell.values())
        return SloTally(known, bad, known, lead_ms)
    grouped = [cell for group in by_cell.values() for cell in group]
    bad = sum(cell.failed for cell in grouped)
    if kind == "checks":
        return SloTally(known, bad, bad + sum(cell.good for cell in grouped), lead_ms)
    return SloTally(
        known,
        bad + sum(cell.slow for cell in grouped),
        bad + sum(cell.answers for cell in grouped),
        lead_ms,
    )


def overlaps(cells: Iterable[Cell]) -> bool:
    """Whether several monitors were down in the same cell, so that their outages are needed."""
    down: defaultdict[datetime, int] = defaultdict(int)
    for cell in cells:
        down[cell.at] += cell.down_ms > 0
    return any(count > 1 for count in down.values())


def by_monitor(cells: Iterable[Cell]) -> Mapping[int, Sequence[Cell]]:
    """Group cells by their monitors."""
    grouped: defaultdict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        grouped[cell.monitor].append(cell)
    return grouped


def _measured(cell: Cell) -> bool:
    return cell.known_ms > 0 or cell.good + cell.failed + cell.answers > 0


def _down_ms(group: Sequence[Cell], outages: Sequence[uptime.Span]) -> int:
    """Return how long any of the monitors was down in their common cell."""
    down = [cell.down_ms for cell in group if cell.down_ms]
    if len(down) < 2:
        return sum(down)
    known = max(cell.known_ms for cell in group)
    length = uptime.length_ms(outages, _unix_ms(group[0].at), _unix_ms(group[0].until))
    return min(max(length, *down), sum(down), known)


def _unix_ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
