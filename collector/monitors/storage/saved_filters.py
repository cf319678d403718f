"""Filters of the list of monitors that users saved, each for itself."""

from dataclasses import dataclass
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class SavedFilter:
    """*query*: of the list's address, without a question mark."""

    name: str
    query: str


async def of_user(tx: Tx, team_id: int, user_id: UUID) -> list[SavedFilter]:
    """Return the user's filters by name."""
    rows = await tx.fetch(
        """
        SELECT name, query FROM saved_filters WHERE team_id = $1 AND user_id = $2
        ORDER BY lower(name), name
        """,
        team_id,
        user_id,
    )
    return [SavedFilter(**row) for row in rows]


async def save(tx: Tx, team_id: int, user_id: UUID, wanted: SavedFilter, most: int) -> bool:
    """Save the filter over that of its name; False if it would be a new one beyond *most*."""
    saved = await tx.fetchval(
        """
        INSERT INTO saved_filters (team_id, user_id, name, query)
        SELECT $1, $2, $3, $4
        WHERE (SELECT count(*) FROM saved_filters WHERE team_id = $1 AND user_id = $2 AND name <> $3) < $5
        ON CONFLICT (team_id, user_id, name) DO UPDATE SET query = excluded.query RETURNING true
        """,
        team_id,
        user_id,
        wanted.name,
        wanted.query,
        most,
    )
    return bool(saved)


async def delete(tx: Tx, team_id: int, user_id: UUID, name: str) -> None:
    await tx.execute(
        "DELETE FROM saved_filters WHERE team_id = $1 AND user_id = $2 AND name = $3", team_id, user_id, name
    )
