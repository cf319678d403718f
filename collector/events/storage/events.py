"""Events: each is appended to its monitor's stream with the stream's next number."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson

from collector.events.core.payloads import EventPayload
from collector.platform.answer_json import encode
from collector.platform.storage.db import Tx
from collector.platform.storage.on_commit import appended
from shared.ids import uuid7


@dataclass(frozen=True, slots=True)
class Event:
    """An event before it is stored.

    *channels*: its receivers besides those that are subscribed to its kind.
    """

    team_id: int
    stream_id: UUID
    kind: str
    payload: EventPayload
    incident_id: UUID | None = None
    channels: Sequence[UUID] = ()


async def append(
    tx: Tx,
    team_id: int,
    stream_id: UUID,
    kind: str,
    payload: EventPayload,
    now: datetime,
    incident_id: UUID | None = None,
) -> None:
    """Append one event to a stream; the first one creates the stream."""
    await append_all(tx, [Event(team_id, stream_id, kind, payload, incident_id)], now)


async def append_all(tx: Tx, events: Sequence[Event], now: datetime) -> None:
    """Append events to their streams, locked in the order of their ids; each stream keeps its events' order.

    Each takes the team's next position: other transactions that append to the team wait for this one.
    """
    ordered = sorted(events, key=lambda event: (event.team_id, event.stream_id))
    await tx.execute(
        """
        WITH given AS (
            SELECT * FROM unnest($1::int[], $2::uuid[], $3::uuid[], $4::text[], $5::jsonb[], $6::uuid[],
                    $8::text[])
                WITH ORDINALITY AS u (team_id, stream_id, id, kind, payload, incident_id, channels, place)
        ), streamed AS (
            SELECT team_id, stream_id, count(*) AS events FROM given
            GROUP BY team_id, stream_id ORDER BY team_id, stream_id
        ), numbered AS (
            INSERT INTO streams (team_id, stream_id, sequence)
            SELECT team_id, stream_id, events FROM streamed
            ON CONFLICT (team_id, stream_id) DO UPDATE SET sequence = streams.sequence + excluded.sequence
            RETURNING team_id, stream_id, sequence
        ), wanted AS (
            -- Counted from the numbered streams: those are locked before the team's position is.
            SELECT team_id, sum(events) AS events FROM numbered JOIN streamed USING (team_id, stream_id)
            GROUP BY team_id ORDER BY team_id
        ), positioned AS (
            INSERT INTO event_positions AS p (team_id, last) SELECT team_id, events FROM wanted
            ON CONFLICT (team_id) DO UPDATE SET last = p.last + excluded.last
            RETURNING p.team_id, p.last
        )
        INSERT INTO events
            (team_id, stream_id, sequence, id, kind, payload, incident_id, created_at, position, channels)
        SELECT team_id, stream_id,
            sequence + 1 - row_number() OVER (PARTITION BY team_id, stream_id ORDER BY place DESC),
            id, kind, payload, incident_id, $7,
            last + 1 - row_number() OVER (PARTITION BY team_id ORDER BY place DESC),
            string_to_array(channels, ',')::uuid[]
        FROM given JOIN numbered USING (team_id, stream_id) JOIN positioned USING (team_id)
        """,
        [event.team_id for event in ordered],
        [event.stream_id for event in ordered],
        [uuid7() for _ in ordered],
        [event.kind for event in ordered],
        [orjson.Fragment(encode(event.payload)) for event in ordered],
        [event.incident_id for event in ordered],
        now,
        # An array of PostgreSQL cannot hold lists of different lengths.
        [",".join(map(str, event.channels)) for event in ordered],
    )
    appended(tx, [event.kind for event in ordered])
