"""How long a result stays valid, by the monitor's interval, timeout and pauses over time."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from collector.history.core import uptime
from collector.platform.storage.db import Tx


async def note(tx: Tx, team_id: int, ids: Sequence[UUID], now: datetime) -> None:
    """Record the present cadence of these monitors, where it changed; call it after their rows are written.

    After a clock was set back, no cadence is older than the last one.
    """
    await tx.execute(
        """
        INSERT INTO cadences (monitor, since, cover_s)
        SELECT m.monitor, greatest($3::timestamptz, last.since), now.cover_s
        FROM monitors m
        CROSS JOIN LATERAL (
            SELECT CASE WHEN m.paused_at IS NULL
                THEN coalesce(h.cover_s, m.interval_s + m.timeout_s + $4::int) END AS cover_s
            FROM (SELECT) one LEFT JOIN heartbeats h ON h.team_id = m.team_id AND h.id = m.id
        ) now
        LEFT JOIN LATERAL (
            SELECT c.since, c.cover_s FROM cadences c
            WHERE c.monitor = m.monitor ORDER BY c.since DESC LIMIT 1
        ) last ON true
        WHERE m.team_id = $1 AND m.id = ANY($2)
            AND (last.since IS NULL OR last.cover_s IS DISTINCT FROM now.cover_s)
        ON CONFLICT (monitor, since) DO UPDATE SET cover_s = excluded.cover_s
        """,
        team_id,
        ids,
        now,
        uptime.cover_s(0, 0),
    )
