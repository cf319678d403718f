"""Sums over a team's incidents, by severity and by day, week or month of their start."""

from dataclasses import dataclass
from datetime import date, datetime

from collector.incidents.core.stats import Period
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class IncidentSums:
    """Sums of the incidents of one severity that started in one group, in seconds."""

    date: date
    severity: str
    incidents: int
    unresolved: int
    downtime_s: int
    resolved_s: int
    acknowledged: int
    acknowledged_s: float
    first_at: datetime
    last_at: datetime


async def by_group(
    tx: Tx, team_id: int, group: Period, since: datetime, until: datetime, now: datetime
) -> list[IncidentSums]:
    """Sum by *group*: day, week or month, in UTC; open spans last until *now*, or their monitor's pause."""
    rows = await tx.fetch(
        """
        SELECT date_trunc($2, i.started_at AT TIME ZONE 'UTC')::date AS date, i.severity,
            count(*) AS incidents,
            count(*) FILTER (WHERE i.status <> 'resolved') AS unresolved,
            sum(d.seconds)::bigint AS downtime_s,
            coalesce(sum(d.seconds) FILTER (WHERE i.status = 'resolved'), 0)::bigint AS resolved_s,
            count(i.acknowledged_at) AS acknowledged,
            coalesce(sum(extract(epoch FROM i.acknowledged_at - i.created_at)), 0)::float8 AS acknowledged_s,
            min(i.started_at) AS first_at, max(i.started_at) AS last_at
        FROM incidents i
        LEFT JOIN monitors m ON m.team_id = i.team_id AND m.id = i.monitor_id AND i.automatic
        CROSS JOIN LATERAL (
            SELECT i.spans_s + CASE WHEN i.status = 'resolved' THEN 0 ELSE
                floor(greatest(0, extract(epoch FROM coalesce(m.paused_at, $5) - i.span_from))) END AS seconds
        ) d
        WHERE i.team_id = $1 AND i.started_at >= $3 AND i.started_at <= $4
        GROUP BY 1, 2
        """,
        team_id,
        group,
        since,
        until,
        now,
    )
    return [IncidentSums(**row) for row in rows]
