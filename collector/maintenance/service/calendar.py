"""The upcoming spans of all maintenance windows of a team."""

from dataclasses import dataclass
from datetime import datetime

from collector.history.storage import maintenance as spans
from collector.maintenance.core.windows import WindowSpan
from collector.maintenance.storage import windows as table
from collector.maintenance.storage.windows import WindowRow
from collector.platform.storage.db import Db

# Of so many windows, and so many spans of each: every day of seven weeks.
_WINDOWS = 100
_SPANS = 50


@dataclass(frozen=True, slots=True)
class UpcomingSpan:
    """A window's span that is not over."""

    row: WindowRow
    span: WindowSpan


async def planned(db: Db, team_id: int, now: datetime) -> list[UpcomingSpan]:
    """What is under way and what comes, as far as it is laid, by its start."""
    async with db.connection() as tx:
        rows = [
            row
            for status in ("active", "scheduled")
            for row in await table.newest(tx, team_id, status, now, _WINDOWS, 0)
        ]
        coming = await spans.coming(tx, team_id, [row.id for row in rows], now, _SPANS)
    found = [UpcomingSpan(row, span) for row in rows for span in coming[row.id]]
    return sorted(found, key=lambda one: one.span.starts_at)
