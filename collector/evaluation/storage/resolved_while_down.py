"""Monitors that stay down although somebody resolved their incident."""

from datetime import datetime

from collector.platform.storage.db import Tx


async def still_down(tx: Tx, before: datetime, limit: int) -> list[int]:
    """Monitors whose present outage a user resolved before that, in key order, not locked."""
    rows = await tx.fetch(
        """
        SELECT m.monitor FROM monitors m CROSS JOIN LATERAL (
            SELECT i.resolved_at, i.resolved_by FROM incidents i
            WHERE i.team_id = m.team_id AND i.monitor_id = m.id AND i.automatic
            ORDER BY i.resolved_at IS NOT NULL, coalesce(i.reopened_at, i.created_at) DESC LIMIT 1
        ) i
        WHERE m.down AND m.paused_at IS NULL AND i.resolved_at BETWEEN m.changed_at AND $1
            AND i.resolved_by ->> 'id' IS NOT NULL
        ORDER BY m.monitor LIMIT $2
        """,
        before,
        limit,
    )
    return [row["monitor"] for row in rows]
