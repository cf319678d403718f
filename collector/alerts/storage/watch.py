"""Which results of which monitors some rule waits for."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class PendingMonitor:
    """A monitor with the results that one or more of its rules need beside failures; None for none."""

    monitor: int
    team_id: int
    id: UUID
    timeout_s: int
    slower_than_ms: int | None
    code: int | None


async def mark(tx: Tx) -> tuple[Any, ...]:
    """Return a value that changes whenever a rule or a monitor does."""
    row = await tx.fetchrow(
        """
        SELECT count(*), sum(revision), max(updated_at),
            (SELECT count(*) FROM monitors), (SELECT max(updated_at) FROM monitors)
        FROM rules
        """
    )
    return tuple(row or ())


async def waited(tx: Tx) -> list[PendingMonitor]:
    """Of rules with conditions; rules without any depend on events alone."""
    rows = await tx.fetch(
        """
        WITH asking AS (
            SELECT team_id, every, monitors, names, pairs,
                (conditions ->> 'latencyThresholdMs')::int AS slower_than_ms,
                (conditions ->> 'statusCode')::int AS code
            FROM rules
            WHERE enabled AND conditions ?| ARRAY['consecutiveFailures', 'latencyThresholdMs', 'statusCode',
                'errorRatePercent', 'availability']
        ), selected AS (
            SELECT m.monitor, a.slower_than_ms, a.code
            FROM (SELECT DISTINCT team_id, slower_than_ms, code FROM asking WHERE every) a
            JOIN monitors m USING (team_id)
            UNION
            SELECT m.monitor, a.slower_than_ms, a.code
            FROM asking a CROSS JOIN unnest(a.monitors) AS named (id)
            JOIN monitors m ON m.team_id = a.team_id AND m.id = named.id
            UNION
            SELECT m.monitor, a.slower_than_ms, a.code FROM asking a JOIN monitors m USING (team_id)
            WHERE cardinality(a.names) + cardinality(a.pairs) > 0
                AND (m.tags ?| a.names OR m.tags @> ANY (a.pairs))
        )
        SELECT s.monitor, m.team_id, m.id, m.timeout_s, s.slower_than_ms, s.code
        FROM selected s JOIN monitors m USING (monitor)
        """
    )
    return [PendingMonitor(**row) for row in rows]
