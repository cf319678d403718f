"""Failing channels: since when, the last error, and whether the team was notified."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class FailedChannel:
    """A channel whose last attempt failed, and the error."""

    team_id: int
    channel_id: UUID
    error: str


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """*flagged*: it has failed for so long that the team's other channels were notified."""

    channel_id: UUID
    failing_since: datetime
    last_error: str
    flagged: bool


@dataclass(frozen=True, slots=True)
class ChannelFault:
    """A channel whose change the other channels are notified of: it fails, or *works* again."""

    team_id: int
    channel_id: UUID
    name: str
    type: str
    failing_since: datetime
    last_error: str
    works: bool


async def fail(tx: Tx, failed: Sequence[FailedChannel]) -> None:
    """Record failing channels; the time of the first failure stays. Channels being deleted are skipped."""
    await tx.execute(
        """
        WITH there AS (
            SELECT c.team_id, c.id AS channel_id, given.error
            FROM unnest($1::int[], $2::uuid[], $3::text[]) AS given (team_id, channel_id, error)
            JOIN channels c ON c.team_id = given.team_id AND c.id = given.channel_id
            ORDER BY c.team_id, c.id FOR KEY SHARE OF c SKIP LOCKED
        )
        INSERT INTO channel_faults AS f (team_id, channel_id, failing_since, last_error)
        SELECT team_id, channel_id, now(), error FROM there
        ON CONFLICT (team_id, channel_id) DO UPDATE SET last_error = excluded.last_error, works_since = NULL,
            failing_since = CASE WHEN f.works_since IS NULL THEN f.failing_since ELSE now() END
        WHERE f.last_error <> excluded.last_error OR f.works_since IS NOT NULL
        """,
        [channel.team_id for channel in failed],
        [channel.channel_id for channel in failed],
        [channel.error for channel in failed],
    )


async def work(tx: Tx, team_id: int, channel_id: UUID) -> None:
    """Record that a delivery through the channel succeeded."""
    await tx.execute(
        """
        UPDATE channel_faults SET works_since = now()
        WHERE team_id = $1 AND channel_id = $2 AND works_since IS NULL
        """,
        team_id,
        channel_id,
    )


async def news(tx: Tx, patience: timedelta, limit: int) -> list[ChannelFault]:
    """Claim the channels to notify about: failing for *patience*, or flagged and working again.

    Faults of channels that recovered within that time are deleted.
    """
    await tx.execute("DELETE FROM channel_faults WHERE works_since IS NOT NULL AND flagged_at IS NULL")
    rows = await tx.fetch(
        """
        WITH due AS (
            SELECT f.team_id, f.channel_id
            FROM channel_faults f JOIN channels c ON c.team_id = f.team_id AND c.id = f.channel_id
            WHERE (f.flagged_at IS NULL AND f.works_since IS NULL AND f.failing_since <= now() - $1::interval
                   AND c.enabled)
               OR (f.flagged_at IS NOT NULL AND f.works_since IS NOT NULL)
            ORDER BY f.team_id, f.channel_id LIMIT $2 FOR UPDATE OF f SKIP LOCKED
        ), over AS (
            DELETE FROM channel_faults f USING due
            WHERE f.team_id = due.team_id AND f.channel_id = due.channel_id AND f.works_since IS NOT NULL
            RETURNING f.*
        ), flagged AS (
            UPDATE channel_faults f SET flagged_at = now() FROM due
            WHERE f.team_id = due.team_id AND f.channel_id = due.channel_id AND f.works_since IS NULL
            RETURNING f.*
        )
        SELECT f.team_id, f.channel_id, c.name, c.type, f.failing_since, f.last_error,
               f.works_since IS NOT NULL AS works
        FROM (SELECT * FROM over UNION ALL SELECT * FROM flagged) f
        JOIN channels c ON c.team_id = f.team_id AND c.id = f.channel_id
        """,
        patience,
        limit,
    )
    return [ChannelFault(**row) for row in rows]


async def others(tx: Tx, team_id: int, channel_id: UUID) -> list[UUID]:
    """The team's other enabled channels that work, locked against deletion."""
    rows = await tx.fetch(
        """
        SELECT id FROM channels c
        WHERE team_id = $1 AND id <> $2 AND enabled AND NOT EXISTS (
            SELECT FROM channel_faults f
            WHERE f.team_id = c.team_id AND f.channel_id = c.id AND f.works_since IS NULL
        )
        ORDER BY id FOR KEY SHARE OF c
        """,
        team_id,
        channel_id,
    )
    return [row["id"] for row in rows]


async def of(tx: Tx, team_id: int, channel_ids: Collection[UUID]) -> dict[UUID, FaultRecord]:
    """The faults of the given channels, by channel id; working channels are left out."""
    rows = await tx.fetch(
        """
        SELECT channel_id, failing_since, last_error, flagged_at IS NOT NULL AS flagged FROM channel_faults
        WHERE team_id = $1 AND channel_id = ANY($2::uuid[]) AND works_since IS NULL
        """,
        team_id,
        list(channel_ids),
    )
    return {row["channel_id"]: FaultRecord(**row) for row in rows}
