"""Reads monitors: lists, and one with its statistics."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from collector.history.service import statistics
from collector.history.service.statistics import Summary
from collector.history.storage.monitor_stats import AtLocation
from collector.monitors.service.columns import whole_config
from collector.monitors.storage import lists
from collector.monitors.storage import monitors as table
from collector.monitors.storage import whole as monitor_whole
from collector.monitors.storage.lists import MonitorFilter
from collector.monitors.storage.monitors import Monitor
from collector.monitors.storage.whole import MonitorRecord
from collector.platform.batched_reads import Lookups
from collector.platform.masks import masked
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from shared.errors import NotFound
from shared.kinds import KINDS, effective

WHAT = "Monitor"
# The longest age of a summary, and only while no result came. Its windows move on with the hour:
# those of all summaries do, so no summary expires for that alone.
_FRESH = timedelta(seconds=10)
_MOST = 2_000

# Team, monitor, and whether its secrets are shown.
Key: TypeAlias = tuple[int, UUID, bool]
Of = TypeVar("Of")
What = TypeVar("What")


@dataclass(frozen=True, slots=True, eq=False)
class CompleteMonitor:
    """A monitor with all that is shown of it; the same object while nothing of it changes."""

    monitor: Monitor
    config: dict[str, Any]
    at_locations: list[AtLocation]
    summary: Summary


@dataclass(frozen=True, slots=True)
class _CachedMonitor:
    """*whole* was made at *at* of *row*, which has all but its summary, and expires at *until*."""

    row: MonitorRecord
    whole: CompleteMonitor
    at: datetime
    until: datetime

    @classmethod
    def just(cls, row: MonitorRecord, whole: CompleteMonitor, at: datetime) -> "_CachedMonitor":
        """Expiries are spread, or the database would be queried for all monitors at once."""
        return cls(row, whole, at, at + _FRESH * random.uniform(0.5, 1.0))  # noqa: S311 - no secret

    def holds(self, row: MonitorRecord, now: datetime) -> bool:
        return self.row == row and self.at <= now < self.until

    def on(self, now: datetime) -> "_CachedMonitor":
        """Return it as of *now*: without any result since, the checks of a new day are 0."""
        if now.date() == self.at.date():
            return self
        summary = replace(self.whole.summary, checks_today=0)
        return replace(self, whole=replace(self.whole, summary=summary), at=now)


class Memory:
    """Caches monitors that were read, and totals; the oldest entries are evicted."""

    def __init__(self, rows: Lookups[tuple[int, UUID], MonitorRecord]) -> None:
        self.rows = rows
        self._made: dict[Key, _CachedMonitor] = {}
        self._totals: dict[tuple[int, MonitorFilter], tuple[int, int]] = {}

    def find(self, key: Key, row: MonitorRecord, now: datetime) -> CompleteMonitor | None:
        """Return what was made of the same row a moment ago."""
        made = self._made.get(key)
        if made is None or not made.holds(row, now):
            return None
        self._made[key] = made.on(now)
        return self._made[key].whole

    def keep(self, key: Key, made: _CachedMonitor) -> None:
        _put(self._made, key, made)

    def total(self, team_id: int, wanted: MonitorFilter, mark: int) -> int | None:
        """Return the total, if it was counted at the same mark."""
        counted_at, total = self._totals.get((team_id, wanted), (None, 0))
        return total if counted_at == mark else None

    def keep_total(self, team_id: int, wanted: MonitorFilter, mark: int, total: int) -> None:
        _put(self._totals, (team_id, wanted), (mark, total))

    async def close(self) -> None:
        await self.rows.close()


async def page(
    db: Db, team_id: int, wanted: MonitorFilter, limit: int, offset: int
) -> tuple[list[lists.ListedMonitor], int]:
    """Return a page of monitors, newest first, and their total number."""
    memory, every = _memory(db), replace(wanted, status=None)
    async with db.connection() as tx:
        page = await lists.page(tx, team_id, wanted, limit, offset)
        total = page.of_status
        if wanted.status in {None, "up"}:
            counted = memory.total(team_id, every, page.mark)
            if counted is None:
                mark, counted = await lists.total(tx, team_id, every)
                memory.keep_total(team_id, every, mark, counted)
            total = counted - page.of_status
    return page.items, total


async def names(db: Db, team_id: int, ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the names of those *ids* that are the team's."""
    async with db.connection() as tx:
        return await lists.names(tx, team_id, ids)


async def found(db: Db, team_id: int, id_: UUID) -> Monitor:
    """Return the monitor's row. Raises NotFound."""
    async with db.connection() as tx:
        monitor = await table.get(tx, team_id, id_)
    if monitor is None:
        raise NotFound(f"{WHAT} not found")
    return monitor


async def one(
    db: Db, keyring: Keyring, team_id: int, id_: UUID, *, secrets: bool, now: datetime
) -> CompleteMonitor:
    """Return the monitor with its secrets, or with them masked. Raises NotFound."""
    memory, key = _memory(db), (team_id, id_, secrets)
    row = await memory.rows.find((team_id, id_))
    if row is None:
        raise NotFound(f"{WHAT} not found")
    known = memory.find(key, row, now)
    if known is not None:
        return known
    monitor = row.monitor()
    async with db.connection() as tx:
        summary = await statistics.summary(tx, monitor.monitor, now)
    config = whole_config(keyring, monitor)
    shown = config if secrets else masked(KINDS[effective(monitor.type, config)], config)
    whole = CompleteMonitor(monitor, shown, row.at_locations(), summary)
    memory.keep(key, _CachedMonitor.just(row, whole, now))
    return whole


def _memory(db: Db) -> Memory:
    return db.kept(_new_memory)


def _new_memory(db: Db) -> Memory:
    return Memory(Lookups(db, monitor_whole.get))


def _put(kept: dict[Of, What], key: Of, value: What) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > _MOST:
        del kept[next(iter(kept))]
