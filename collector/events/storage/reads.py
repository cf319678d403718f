"""A team's events by position, for followers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.events.core.events import Fact
from collector.platform.storage import second_factor
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event and its position among its team's."""

    team_id: int
    position: int
    fact: Fact


@dataclass(frozen=True, slots=True)
class EventSpan:
    """The range of a team's stored events; *last*: the newest position, its event stored or not."""

    last: int = 0
    last_id: UUID | None = None
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """When a token or a session expires, or was revoked."""

    expires_at: datetime | None
    revoked_at: datetime | None


async def after(tx: Tx, heads: Mapping[int, int], most: int) -> list[PlacedEvent]:
    """Return the next events of each team after its position in *heads*, at most *most* of each."""
    rows = await tx.fetch(
        """
        SELECT event.* FROM unnest($1::int[], $2::bigint[]) AS head (team_id, position)
        CROSS JOIN LATERAL (
            SELECT team_id, position, id, kind, stream_id, sequence, payload, incident_id FROM events
            WHERE team_id = head.team_id AND position > head.position
            ORDER BY position LIMIT $3
        ) AS event
        ORDER BY event.team_id, event.position
        """,
        list(heads.keys()),
        list(heads.values()),
        most,
    )
    names = ("id", "kind", "stream_id", "sequence", "payload", "incident_id")
    return [
        PlacedEvent(row["team_id"], row["position"], Fact(**{name: row[name] for name in names}))
        for row in rows
    ]


async def span(tx: Tx, team_id: int) -> EventSpan:
    """Return the range of a team's events."""
    row = await tx.fetchrow(
        """
        SELECT p.last, newest.id AS last_id, oldest.position AS first
        FROM event_positions p
        LEFT JOIN events newest ON newest.team_id = p.team_id AND newest.position = p.last
        LEFT JOIN LATERAL (
            SELECT position FROM events WHERE team_id = p.team_id ORDER BY position LIMIT 1
        ) AS oldest ON true
        WHERE p.team_id = $1
        """,
        team_id,
    )
    return EventSpan(**row) if row else EventSpan()


async def position(tx: Tx, team_id: int, id_: UUID) -> int | None:
    """Return the position of the team's event with that id; None without one."""
    found: int | None = await tx.fetchval(
        "SELECT position FROM events WHERE team_id = $1 AND id = $2", team_id, id_
    )
    return found


async def lives(tx: Tx, tokens: Collection[tuple[int, UUID]]) -> dict[UUID, Life]:
    """Return the lifetime of each token or console session (its team, its id) that still exists."""
    rows = await tx.fetch(
        f"""
        WITH wanted AS (SELECT * FROM unnest($1::int[], $2::uuid[]) AS wanted (team_id, id))
        SELECT t.id, t.expires_at, t.revoked_at FROM wanted
        JOIN tokens t ON t.team_id = wanted.team_id AND t.id = wanted.id
        UNION ALL
        SELECT s.id, least(s.ends_at, t.expires_at), t.revoked_at FROM wanted
        JOIN console_sessions s ON s.team_id = wanted.team_id AND s.id = wanted.id
        JOIN teams m ON m.team_id = s.team_id
        LEFT JOIN tokens t ON t.team_id = s.team_id AND t.id = s.token_id
        WHERE NOT {second_factor.LACKING}
        """,
        [team_id for team_id, _ in tokens],
        [id_ for _, id_ in tokens],
    )
    return {row["id"]: Life(row["expires_at"], row["revoked_at"]) for row in rows}
