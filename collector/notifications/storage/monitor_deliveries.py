"""Deliveries that wait for a monitor that is deleted, and the channels that know it as down."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from collector.events.core.kinds import EventKind
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class NewestEvent:
    """The newest event of a stream."""

    sequence: int
    id: UUID


async def take(tx: Tx, team_id: int, stream_id: UUID) -> NewestEvent | None:
    """Mark the stream's unrouted events as routed; return its last event, if it has any.

    Routers are blocked from the stream until the transaction ends.
    """
    row = await tx.fetchrow(
        """
        WITH taken AS (
            UPDATE streams SET routed = sequence WHERE team_id = $1 AND stream_id = $2
            RETURNING team_id, stream_id, sequence
        )
        SELECT sequence, e.id FROM taken JOIN events e USING (team_id, stream_id, sequence)
        """,
        team_id,
        stream_id,
    )
    return NewestEvent(**row) if row else None


async def take_all(tx: Tx, team_id: int, streams: Sequence[UUID]) -> None:
    """As `take`, for several streams, in the order in which routers lock them."""
    await tx.execute(
        """
        UPDATE streams SET routed = sequence WHERE team_id = $1 AND stream_id IN (
            SELECT stream_id FROM streams WHERE team_id = $1 AND stream_id = ANY($2)
            ORDER BY stream_id FOR NO KEY UPDATE
        )
        """,
        team_id,
        streams,
    )


async def held_down(tx: Tx, team_id: int, streams: Sequence[UUID]) -> set[UUID]:
    """Return those of the streams whose monitors some channel has as down; see `hold_it_down`."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT stream_id FROM (
            SELECT DISTINCT ON (e.stream_id, d.channel_id) e.stream_id, e.kind
            FROM events e JOIN deliveries d ON d.team_id = e.team_id AND d.event_id = e.id
            WHERE e.team_id = $1 AND e.stream_id = ANY($2)
              AND ((e.kind = 'monitor.down' AND d.attempt > 0) OR (e.kind = 'monitor.up' AND d.status <> 0))
            ORDER BY e.stream_id, d.channel_id, e.sequence DESC
        ) newest WHERE kind = 'monitor.down'
        """,
        team_id,
        streams,
    )
    return {row["stream_id"] for row in rows}


async def hold_it_down(tx: Tx, team_id: int, stream_id: UUID) -> set[UUID]:
    """Channels that were sent a monitor.down, even in vain, and have finished no later monitor.up."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT ON (d.channel_id) d.channel_id, e.kind
        FROM events e JOIN deliveries d ON d.team_id = e.team_id AND d.event_id = e.id
        WHERE e.team_id = $1 AND e.stream_id = $2
          AND ((e.kind = 'monitor.down' AND d.attempt > 0) OR (e.kind = 'monitor.up' AND d.status <> 0))
        ORDER BY d.channel_id, e.sequence DESC
        """,
        team_id,
        stream_id,
    )
    return {row["channel_id"] for row in rows if row["kind"] == EventKind.MONITOR_DOWN}


async def drop(tx: Tx, team_id: int, streams: Sequence[UUID]) -> None:
    """Delete queued deliveries and do not retry those under way."""
    # Marks all of them first, so that no sender leases or returns any of them meanwhile.
    await tx.execute(
        """
        UPDATE deliveries d SET last = true FROM events e
        WHERE e.team_id = $1 AND e.stream_id = ANY($2)
          AND d.team_id = e.team_id AND d.event_id = e.id AND d.status = 0
        """,
        team_id,
        streams,
    )
    await tx.execute(
        """
        DELETE FROM deliveries d USING events e
        WHERE e.team_id = $1 AND e.stream_id = ANY($2)
          AND d.team_id = e.team_id AND d.event_id = e.id AND d.status = 0 AND NOT d.leased
        """,
        team_id,
        streams,
    )
