"""Marks on monitors whose alert rules must be evaluated: inserted by many, taken by the evaluator."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx

# A monitor's team and id.
Key = tuple[int, UUID]


async def add(tx: Tx, keys: Sequence[Key]) -> None:
    await tx.execute(
        "INSERT INTO alert_marks (team_id, monitor_id) SELECT * FROM unnest($1::int[], $2::uuid[])",
        [team_id for team_id, _ in keys],
        [monitor_id for _, monitor_id in keys],
    )


async def add_later(tx: Tx, due: Mapping[Key, datetime]) -> None:
    """Schedule an evaluation of these monitors, unless they have one scheduled already."""
    await tx.execute(
        """
        INSERT INTO alert_marks (team_id, monitor_id, due_at)
        SELECT u.* FROM unnest($1::int[], $2::uuid[], $3::timestamptz[]) AS u (team_id, monitor_id, due_at)
        WHERE NOT EXISTS (
            SELECT FROM alert_marks a
            WHERE a.team_id = u.team_id AND a.monitor_id = u.monitor_id AND a.due_at IS NOT NULL
        )
        """,
        [team_id for team_id, _ in due],
        [monitor_id for _, monitor_id in due],
        list(due.values()),
    )


async def add_where_ruled(tx: Tx, keys: Sequence[Key]) -> int:
    """Mark the monitors of teams that have rules, or alerts that are not over. Return how many."""
    rows = await tx.fetch(
        """
        INSERT INTO alert_marks (team_id, monitor_id)
        SELECT u.team_id, u.monitor_id FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id)
        WHERE EXISTS (SELECT FROM rules r WHERE r.team_id = u.team_id AND r.enabled)
            OR EXISTS (
                SELECT FROM alerts a
                WHERE a.team_id = u.team_id AND a.monitor_id = u.monitor_id AND a.status <> 'recovered'
            )
        RETURNING mark
        """,
        [team_id for team_id, _ in keys],
        [monitor_id for _, monitor_id in keys],
    )
    return len(rows)


async def take(tx: Tx, now: datetime, limit: int) -> set[Key]:
    """Take some monitors whose marks are due.

    Concurrent callers take others, and no caller takes these again once this is committed.
    """
    rows = await tx.fetch(
        """
        WITH taken AS (
            DELETE FROM alert_marks WHERE (team_id, mark) IN (
                SELECT team_id, mark FROM alert_marks WHERE due_at IS NULL OR due_at <= $2
                LIMIT $1 FOR UPDATE SKIP LOCKED
            ) RETURNING team_id, monitor_id
        )
        SELECT DISTINCT team_id, monitor_id FROM taken
        """,
        limit,
        now,
    )
    return {(row["team_id"], row["monitor_id"]) for row in rows}


async def due(tx: Tx, now: datetime, limit: int) -> set[Key]:
    """Monitors with an alert that is due."""
    rows = await tx.fetch(
        "SELECT team_id, monitor_id FROM alerts WHERE due_at <= $1 ORDER BY due_at LIMIT $2", now, limit
    )
    return {(row["team_id"], row["monitor_id"]) for row in rows}
