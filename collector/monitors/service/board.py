"""Reads the console's list of monitors: a page of it, with counts by state and the latest checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from collector.monitors.storage import board as storage
from collector.monitors.storage.board import BoardCount, BoardRow, RecentCheck, Sorting
from collector.monitors.storage.lists import MonitorFilter
from collector.platform.storage.db import Db

# Checks that the list draws of a monitor.
CHECKS = 30
_TAGS = 200
# Room for checks that came late, and for pauses.
_LATE = timedelta(hours=1)
_LONGEST = timedelta(days=31)


@dataclass(frozen=True, slots=True)
class MonitorBoard:
    """*counts*: of all monitors that match, of any state; *checks*: the latest of each row, oldest first."""

    rows: list[BoardRow]
    counts: list[BoardCount]
    checks: Mapping[int, Sequence[RecentCheck]]

    @property
    def states(self) -> dict[str, int]:
        """How many are in each state that has any, the most urgent first; last, how many are silenced."""
        sums = {
            state: sum(each.count for each in self.counts if each.state == state) for state in storage.STATES
        }
        sums["silenced"] = sum(each.silenced for each in self.counts)
        return {state: count for state, count in sums.items() if count}

    @property
    def total(self) -> int:
        """How many match, of any state."""
        return sum(each.count for each in self.counts)

    def group(self, name: str | None) -> dict[str, int]:
        """How many monitors of the group are in each state."""
        return {each.state: each.count for each in self.counts if each.group_name == name}


async def read(
    db: Db, team_id: int, wanted: MonitorFilter, sorting: Sorting, limit: int, offset: int, now: datetime
) -> MonitorBoard:
    async with db.connection() as tx:
        rows = await storage.page(tx, team_id, wanted, sorting, limit, offset)
        counts = await storage.counts(tx, team_id, wanted, now)
        checks = await storage.recent(
            tx, [(row.monitor, since(row.last_at or now, row.interval_s)) for row in rows], CHECKS
        )
    by_monitor: dict[int, list[RecentCheck]] = {row.monitor: [] for row in rows}
    for check in checks:
        by_monitor[check.monitor].append(check)
    return MonitorBoard(rows, counts, by_monitor)


async def tags(db: Db, team_id: int) -> list[str]:
    """Return the team's most used tags, as a filter takes them."""
    async with db.connection() as tx:
        return await storage.tags(tx, team_id, _TAGS)


async def matching(db: Db, team_id: int, wanted: MonitorFilter) -> list[UUID]:
    """Return the ids of all monitors that match."""
    async with db.connection() as tx:
        return await storage.matching(tx, team_id, wanted)


def since(last: datetime, interval_s: int) -> datetime:
    """Return a moment that the checks to draw are after, so that few partitions are read."""
    return last - min(timedelta(seconds=interval_s) * CHECKS * 1.2 + _LATE, _LONGEST)
