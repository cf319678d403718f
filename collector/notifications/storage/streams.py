"""Event streams that wait for routing: claimed whole, so that events never swap."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class UnroutedStream:
    """The events after *routed*, up to *sequence*, are not routed yet."""

    team_id: int
    stream_id: UUID
    routed: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that is not routed yet; *channels*: addressed directly, regardless of their filters."""

    team_id: int
    stream_id: UUID
    sequence: int
    id: UUID
    kind: str
    channels: Sequence[UUID] = ()


async def claim(tx: Tx, limit: int) -> list[UnroutedStream]:
    """Lock streams with unrouted events until the transaction ends, skipping locked ones."""
    rows = await tx.fetch(
        """
        SELECT team_id, stream_id, routed, sequence FROM streams WHERE routed < sequence
        LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
        """,
        limit,
    )
    return [UnroutedStream(**row) for row in rows]


async def waiting(tx: Tx, streams: Sequence[UnroutedStream], most: int) -> list[Waiting]:
    """The next events of each of *streams*, in its order, at most *most* per stream."""
    rows = await tx.fetch(
        """
        SELECT event.team_id, event.stream_id, event.sequence, event.id, event.kind, event.channels
        FROM unnest($1::int[], $2::uuid[], $3::bigint[]) AS stream (team_id, stream_id, routed)
        CROSS JOIN LATERAL (
            SELECT team_id, stream_id, sequence, id, kind, channels FROM events
            WHERE team_id = stream.team_id AND stream_id = stream.stream_id AND sequence > stream.routed
            ORDER BY sequence LIMIT $4
        ) AS event
        ORDER BY event.team_id, event.stream_id, event.sequence
        """,
        [stream.team_id for stream in streams],
        [stream.stream_id for stream in streams],
        [stream.routed for stream in streams],
        most,
    )
    return [Waiting(**row) for row in rows]


async def advance(tx: Tx, reached: Sequence[UnroutedStream]) -> None:
    """Store the new position of each stream, all of them claimed in this transaction."""
    await tx.execute(
        """
        UPDATE streams SET routed = reached.routed
        FROM unnest($1::int[], $2::uuid[], $3::bigint[]) AS reached (team_id, stream_id, routed)
        WHERE streams.team_id = reached.team_id AND streams.stream_id = reached.stream_id
        """,
        [stream.team_id for stream in reached],
        [stream.stream_id for stream in reached],
        [stream.routed for stream in reached],
    )


async def pagers(tx: Tx, events: Sequence[Waiting]) -> dict[UUID, list[UUID]]:
    """The paging channels that were notified of these events' incidents, by event id."""
    rows = await tx.fetch(
        """
        SELECT e.id, array_agg(DISTINCT c.id) AS channels
        FROM unnest($1::int[], $2::uuid[], $3::bigint[]) AS u (team_id, stream_id, sequence)
        JOIN events e USING (team_id, stream_id, sequence)
        JOIN alerts a ON a.team_id = e.team_id AND a.incident_id = e.incident_id
        JOIN channels c ON c.team_id = a.team_id AND c.id = ANY (a.told)
        WHERE c.type IN ('pagerduty', 'opsgenie') GROUP BY e.id
        """,
        [event.team_id for event in events],
        [event.stream_id for event in events],
        [event.sequence for event in events],
    )
    return {row["id"]: row["channels"] for row in rows}
