"""Alert channels."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class ChannelRow:
    """*config* lacks the secret fields, which *secrets* holds sealed."""

    team_id: int
    id: UUID
    name: str
    type: str
    enabled: bool
    config: dict[str, Any]
    secrets: bytes | None
    revision: int
    created_at: datetime
    updated_at: datetime
    for_new_monitors: bool = False


@dataclass(frozen=True, slots=True)
class ListeningChannel:
    """A channel that receives events without a rule, and its filters; an empty filter matches everything."""

    team_id: int
    id: UUID
    events: Sequence[str]
    monitors: Sequence[str]


async def insert(tx: Tx, row: ChannelRow) -> None:
    await tx.execute(
        """
        INSERT INTO channels
            (team_id, id, name, type, enabled, config, secrets, revision, created_at, updated_at,
             for_new_monitors)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        """,
        row.team_id,
        row.id,
        row.name,
        row.type,
        row.enabled,
        row.config,
        row.secrets,
        row.revision,
        row.created_at,
        row.updated_at,
        row.for_new_monitors,
    )


async def save(tx: Tx, row: ChannelRow) -> None:
    """Write the mutable columns of a channel."""
    await tx.execute(
        """
        UPDATE channels SET name = $3, enabled = $4, config = $5, secrets = $6, revision = $7,
            updated_at = $8, for_new_monitors = $9
        WHERE team_id = $1 AND id = $2
        """,
        row.team_id,
        row.id,
        row.name,
        row.enabled,
        row.config,
        row.secrets,
        row.revision,
        row.updated_at,
        row.for_new_monitors,
    )


async def get(tx: Tx, team_id: int, channel_id: UUID) -> ChannelRow | None:
    row = await tx.fetchrow("SELECT * FROM channels WHERE team_id = $1 AND id = $2", team_id, channel_id)
    return ChannelRow(**row) if row else None


async def lock(tx: Tx, team_id: int, channel_id: UUID) -> ChannelRow | None:
    """As `get`, but lock the row until the transaction ends."""
    row = await tx.fetchrow(
        "SELECT * FROM channels WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE", team_id, channel_id
    )
    return ChannelRow(**row) if row else None


async def newest(
    tx: Tx, team_id: int, type_: str | None, limit: int | None = None, offset: int = 0
) -> list[ChannelRow]:
    """The team's channels, of one type or all, newest first."""
    rows = await tx.fetch(
        """
        SELECT * FROM channels WHERE team_id = $1 AND ($2::text IS NULL OR type = $2)
        ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4
        """,
        team_id,
        type_,
        limit,
        offset,
    )
    return [ChannelRow(**row) for row in rows]


async def count(tx: Tx, team_id: int, type_: str | None) -> int:
    total: int = await tx.fetchval(
        "SELECT count(*) FROM channels WHERE team_id = $1 AND ($2::text IS NULL OR type = $2)", team_id, type_
    )
    return total


async def delete(tx: Tx, team_id: int, channel_id: UUID) -> bool:
    """Return whether the channel existed. Its deliveries, pending ones included, are deleted with it."""
    gone = await tx.fetchval(
        "DELETE FROM channels WHERE team_id = $1 AND id = $2 RETURNING id", team_id, channel_id
    )
    return gone is not None


async def unknown_monitors(tx: Tx, team_id: int, monitor_ids: Sequence[UUID]) -> set[UUID]:
    """The given ids that are not monitors of the team."""
    rows = await tx.fetch(
        """
        SELECT given.id FROM unnest($2::uuid[]) AS given (id)
        WHERE NOT EXISTS (SELECT FROM monitors WHERE team_id = $1 AND id = given.id)
        """,
        team_id,
        monitor_ids,
    )
    return {row["id"] for row in rows}


async def listeners(tx: Tx, team_ids: Sequence[int]) -> list[ListeningChannel]:
    """The enabled webhook channels of these teams, locked against deletion until the transaction ends."""
    rows = await tx.fetch(
        """
        SELECT team_id, id, coalesce(config -> 'events', '[]') AS events,
               coalesce(config -> 'monitors', '[]') AS monitors
        FROM channels WHERE team_id = ANY($1::int[]) AND enabled AND type = 'webhook'
        ORDER BY team_id, id FOR KEY SHARE
        """,
        team_ids,
    )
    return [ListeningChannel(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class Addressee:
    """An enabled channel that a rule may use; *events* and *monitors* as in `ListeningChannel`."""

    team_id: int
    id: UUID
    name: str
    type: str
    events: Sequence[str]
    monitors: Sequence[str]


async def addressees(tx: Tx, team_ids: Sequence[int]) -> list[Addressee]:
    """The enabled channels of these teams."""
    rows = await tx.fetch(
        """
        SELECT team_id, id, name, type, coalesce(config -> 'events', '[]') AS events,
               coalesce(config -> 'monitors', '[]') AS monitors
        FROM channels WHERE team_id = ANY($1::int[]) AND enabled
        """,
        team_ids,
    )
    return [Addressee(**row) for row in rows]


async def still_enabled(tx: Tx, channel_ids: Sequence[UUID]) -> set[tuple[int, UUID]]:
    """The enabled ones, with their teams, locked against deletion until the transaction ends."""
    rows = await tx.fetch(
        "SELECT team_id, id FROM channels WHERE id = ANY ($1) AND enabled ORDER BY team_id, id FOR KEY SHARE",
        channel_ids,
    )
    return {(row["team_id"], row["id"]) for row in rows}
