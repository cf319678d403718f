"""A team's state in numbers."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Overview:
    """*down* and *paused* are of *monitors*; *live* of *probes*."""

    monitors: int
    down: int
    paused: int
    incidents: int
    probes: int
    live: int
    channels: int
    rules: int
    users: int


async def look(tx: Tx, team_id: int, now: datetime, live: timedelta) -> Overview:
    """Probes are live that were heard of within *live*; channels and rules count while they are enabled."""
    row = await tx.fetchrow(
        """
        SELECT m.monitors, m.down, m.paused, p.probes, p.live,
            (SELECT count(*) FROM incidents WHERE team_id = $1 AND status <> 'resolved') AS incidents,
            (SELECT count(*) FROM channels WHERE team_id = $1 AND enabled) AS channels,
            (SELECT count(*) FROM rules WHERE team_id = $1 AND enabled) AS rules,
            (SELECT count(*) FROM users WHERE team_id = $1) AS users
        FROM (
            SELECT count(*) AS monitors, count(*) FILTER (WHERE paused_at IS NOT NULL) AS paused,
                count(*) FILTER (WHERE down AND paused_at IS NULL) AS down
            FROM monitors WHERE team_id = $1
        ) m CROSS JOIN (
            SELECT count(*) AS probes,
                count(*) FILTER (
                    WHERE ended_at IS NULL
                        AND seen_at > $2::timestamptz - $3::interval AND seen_at < $2 + $3
                ) AS live
            FROM probes WHERE coalesce(team_id, $1) = $1 AND revoked_at IS NULL
        ) p
        """,
        team_id, now, live,
    )  # fmt: skip
    return Overview(**row) if row else Overview(0, 0, 0, 0, 0, 0, 0, 0, 0)
