"""The upcoming spans of all maintenance windows of a team."""

from dataclasses import dataclass
from datetime import datetime

from collector.maintenance.core.windows import WindowSpan, WindowStatus
from collector.maintenance.storage import spans
from collector.maintenance.storage import windows as table
from collector.maintenance.storage.windows import WindowRow
from collector.platform.storage.db import Db

# Limits of windows and of spans per window: one for every day of seven weeks.
_WINDOWS = 100
_SPANS = 50


@dataclass(frozen=True, slots=True)
class UpcomingSpan:
    """A window's current or future span."""

    row: WindowRow
    span: WindowSpan


async def planned(db: Db, team_id: int, now: datetime) -> list[UpcomingSpan]:
    """The current and upcoming spans, as far as they are computed, in order of their starts."""
    async with db.connection() as tx:
        rows = [
            row
            for status in (WindowStatus.ACTIVE, WindowStatus.SCHEDULED)
            for row in await table.newest(tx, team_id, status, now, _WINDOWS, 0)
        ]
        coming = await spans.coming(tx, team_id, [row.id for row in rows], now, _SPANS)
    upcoming_spans = [UpcomingSpan(row, span) for row in rows for span in coming[row.id]]
    return sorted(upcoming_spans, key=lambda upcoming_span: upcoming_span.span.starts_at)
