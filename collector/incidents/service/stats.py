"""Statistics of incidents: count, duration, time to acknowledge."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from collector.incidents.core.stats import Period, dates
from collector.incidents.storage import stats as table
from collector.incidents.storage.stats import IncidentSums
from collector.platform.storage.db import Db

SEVERITIES = ("critical", "high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Group:
    """The incidents that started in one day, week or month; mean seconds."""

    date: date
    incidents: int
    avg_downtime: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Mean seconds: *mttr* of resolved incidents, *mtta* until acknowledged, of *acknowledged* ones.

    *mtbf*: mean seconds from the start of an incident to the start of the next; None of fewer than two.
    """

    incidents: int
    unresolved: int
    acknowledged: int
    mttr: int
    mtta: int
    mtbf: int | None
    avg_downtime: int
    by_severity: dict[str, int]
    groups: list[Group]


async def stats(
    db: Db, team_id: int, group: Period, since: datetime, until: datetime, now: datetime
) -> Stats:
    """Statistics of the incidents that started from *since* to *until*; empty groups are included."""
    async with db.connection() as tx:
        sums = await table.by_group(tx, team_id, group, since, until, now)
    grouped: defaultdict[date, list[IncidentSums]] = defaultdict(list)
    for one in sums:
        grouped[one.date].append(one)
    return Stats(
        incidents=_count(sums),
        unresolved=sum(one.unresolved for one in sums),
        acknowledged=sum(each.acknowledged for each in sums),
        mttr=_mean(sum(one.resolved_s for one in sums), _count(sums) - sum(one.unresolved for one in sums)),
        mtta=_mean(sum(one.acknowledged_s for one in sums), sum(one.acknowledged for one in sums)),
        mtbf=_between(sums),
        avg_downtime=_downtime(sums),
        by_severity={
            severity: _count(one for one in sums if one.severity == severity) for severity in SEVERITIES
        },
        groups=[_group(at, grouped.get(at, ())) for at in dates(group, since, until)],
    )


def _between(sums: Sequence[IncidentSums]) -> int | None:
    """Return the mean seconds between the starts of two incidents in a row."""
    gaps = _count(sums) - 1
    if gaps < 1:
        return None
    first, last = min(each.first_at for each in sums), max(each.last_at for each in sums)
    return round((last - first).total_seconds() / gaps)


def _group(at: date, sums: Sequence[IncidentSums]) -> Group:
    return Group(at, _count(sums), _downtime(sums))


def _count(sums: Iterable[IncidentSums]) -> int:
    return sum(one.incidents for one in sums)


def _downtime(sums: Sequence[IncidentSums]) -> int:
    return _mean(sum(one.downtime_s for one in sums), _count(sums))


def _mean(total: float, count: int) -> int:
    return round(total / count) if count else 0
