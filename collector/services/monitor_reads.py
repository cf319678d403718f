"""What a caller may read of monitors: lists, one with its numbers, results."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.core.seal import Keyring
from collector.core.uptime import Outage, percent
from collector.services.masking import masked
from collector.services.monitors import whole_config
from collector.storage import monitor_lists, monitor_stats, result_reads
from collector.storage import monitors as table
from collector.storage.db import Db, Tx
from collector.storage.monitor_stats import AtLocation, LastDay
from collector.storage.monitors import Monitor
from collector.storage.result_reads import Result
from shared.errors import NotFound
from shared.kinds import KINDS

WHAT = "Monitor"
_DAY = timedelta(days=1)
_LONGEST = 90 * _DAY
# A check may be this late before the time after the last one counts as unknown.
_LATE = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Uptimes:
    """Percent of the known time of each span that ends now."""

    day: float
    week: float
    month: float
    quarter: float


@dataclass(frozen=True, slots=True)
class Whole:
    """A monitor with all that is shown of it."""

    monitor: Monitor
    config: dict[str, Any]
    at_locations: list[AtLocation]
    last_day: LastDay
    uptimes: Uptimes


async def page(
    db: Db, team_id: int, wanted: monitor_lists.Wanted, limit: int, offset: int
) -> tuple[list[monitor_lists.Item], int]:
    """A page of them, newest first, and how many there are in all."""
    async with db.connection() as tx:
        total = await monitor_lists.count(tx, team_id, wanted)
        found = await monitor_lists.newest(tx, team_id, wanted, limit, offset) if offset < total else []
    return found, total


async def found(db: Db, team_id: int, id_: UUID) -> Monitor:
    """The monitor's row. Raises NotFound."""
    async with db.connection() as tx:
        return await _found(tx, team_id, id_)


async def one(db: Db, keyring: Keyring, team_id: int, id_: UUID, *, secrets: bool, now: datetime) -> Whole:
    """With its secrets, or with them masked. Raises NotFound."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    async with db.connection() as tx:
        monitor = await _found(tx, team_id, id_)
        at_locations = await monitor_stats.at_locations(tx, monitor.monitor)
        last_day = await monitor_stats.last_day(tx, monitor.monitor, now - _DAY, midnight)
        uptimes = await _uptimes(tx, monitor, now)
    config = whole_config(keyring, monitor)
    shown = config if secrets else masked(KINDS[monitor.type], config)
    return Whole(monitor, shown, at_locations, last_day, uptimes)


async def results(
    db: Db, monitor: Monitor, wanted: result_reads.Wanted, limit: int
) -> tuple[list[Result], int]:
    """The newest of what is wanted, and how many there are."""
    async with db.connection() as tx:
        return (
            await result_reads.newest(tx, monitor.monitor, wanted, limit),
            await result_reads.count(tx, monitor.monitor, wanted),
        )


async def _uptimes(tx: Tx, monitor: Monitor, now: datetime) -> Uptimes:
    """Known is what lies between the first result that is kept and the last, or the pause."""
    first = await monitor_stats.first_result(tx, monitor.monitor, now - _LONGEST)
    if first is None:
        return Uptimes(100.0, 100.0, 100.0, 100.0)
    end = monitor.paused_at or now
    if monitor.last_at is not None:
        end = min(end, monitor.last_at + timedelta(seconds=monitor.interval_s) + _LATE)
    incidents = await monitor_stats.incidents(tx, monitor.team_id, monitor.id, now - _LONGEST)
    outages = [_outage(incident, end) for incident in incidents]
    spans = (_DAY, 7 * _DAY, 30 * _DAY, _LONGEST)
    return Uptimes(*_percents(outages, [max(first, now - span) for span in spans], end))


def _percents(outages: Sequence[Outage], starts: Sequence[datetime], end: datetime) -> list[float]:
    return [percent(outages, start, end) for start in starts]


def _outage(incident: monitor_stats.Incident, end: datetime) -> Outage:
    present = 0.0 if incident.resolved_at else (end - incident.span_from).total_seconds()
    return Outage(incident.started_at, incident.resolved_at or end, incident.spans_s + max(0.0, present))


async def _found(tx: Tx, team_id: int, id_: UUID) -> Monitor:
    monitor = await table.get(tx, team_id, id_)
    if monitor is None:
        raise NotFound(f"{WHAT} not found")
    return monitor
