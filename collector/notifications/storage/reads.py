"""Reads deliveries with their attempts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """One attempt; *status_code* and *latency_ms* are None without a response, *note* without a remark."""

    at: datetime
    status_code: int | None
    latency_ms: int | None
    error: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """*attempts*: oldest first."""

    id: UUID
    event_id: UUID
    event_kind: str
    status: int
    created_at: datetime
    next_attempt_at: datetime | None
    attempts: Sequence[DeliveryAttempt]


_SHOWN = """
    SELECT d.id, d.event_id, d.event_kind, d.status, d.created_at,
           CASE WHEN d.status = 0 AND NOT d.leased THEN d.due_at END AS next_attempt_at,
           coalesce(tries.all, '[]') AS attempts
    FROM deliveries d
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(
            jsonb_build_object('at', extract(epoch FROM a.at), 'status_code', a.status_code,
                               'latency_ms', a.latency_ms, 'error', a.error, 'note', a.note)
            ORDER BY a.attempt
        ) AS all
        FROM delivery_attempts a WHERE a.team_id = d.team_id AND a.delivery_id = d.id
    ) AS tries ON true
"""


async def newest(tx: Tx, team_id: int, channel_id: UUID, limit: int, offset: int) -> list[Delivery]:
    rows = await tx.fetch(
        f"""
        {_SHOWN}
        WHERE d.team_id = $1 AND d.channel_id = $2
        ORDER BY d.created_at DESC, d.id DESC LIMIT $3 OFFSET $4
        """,
        team_id,
        channel_id,
        limit,
        offset,
    )
    return [_delivery(row) for row in rows]


async def one(tx: Tx, team_id: int, delivery_id: UUID) -> Delivery | None:
    row = await tx.fetchrow(f"{_SHOWN} WHERE d.team_id = $1 AND d.id = $2", team_id, delivery_id)
    return _delivery(row) if row else None


async def count(tx: Tx, team_id: int, channel_id: UUID) -> int:
    total: int = await tx.fetchval(
        "SELECT count(*) FROM deliveries WHERE team_id = $1 AND channel_id = $2", team_id, channel_id
    )
    return total


def _delivery(row: Any) -> Delivery:
    tries = [
        DeliveryAttempt(**{**attempt, "at": datetime.fromtimestamp(attempt["at"], UTC)})
        for attempt in row["attempts"]
    ]
    return Delivery(**{**row, "attempts": tries})
