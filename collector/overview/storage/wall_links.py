"""Links by which screens on a wall show a team; only the SHA-256 of each secret is stored."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from collector.platform.storage.db import Tx

_COLUMNS = "team_id, id, name, created_by, created_at, expires_at, seen_at"


@dataclass(frozen=True, slots=True)
class WallLink:
    """A link; *expires_at* None: it lasts until it is ended, *seen_at* None: no screen has used it."""

    team_id: int
    id: UUID
    name: str
    created_by: str
    created_at: datetime
    expires_at: datetime | None = None
    seen_at: datetime | None = None


async def insert(tx: Tx, link: WallLink, hash_: bytes) -> None:
    await tx.execute(
        """
        INSERT INTO wall_links (team_id, id, name, hash, created_by, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """,
        link.team_id, link.id, link.name, hash_, link.created_by, link.created_at, link.expires_at,
    )  # fmt: skip


async def of_team(tx: Tx, team_id: int) -> list[WallLink]:
    """The team's links, newest first."""
    rows = await tx.fetch(
        f"SELECT {_COLUMNS} FROM wall_links WHERE team_id = $1 ORDER BY created_at DESC, id", team_id
    )
    return [WallLink(**row) for row in rows]


async def with_hash(tx: Tx, hash_: bytes, now: datetime) -> WallLink | None:
    """The link whose secret hashes to *hash_*, unless it has expired."""
    row = await tx.fetchrow(
        f"""
        SELECT {_COLUMNS} FROM wall_links
        WHERE hash = $1 AND (expires_at IS NULL OR expires_at > $2)
        """,
        hash_,
        now,
    )
    return WallLink(**row) if row else None


async def seen(tx: Tx, link: WallLink, now: datetime, every: timedelta) -> None:
    """Record that a screen uses the link, at most once in *every*."""
    await tx.execute(
        """
        UPDATE wall_links SET seen_at = $3
        WHERE team_id = $1 AND id = $2 AND (seen_at IS NULL OR seen_at <= $3::timestamptz - $4::interval)
        """,
        link.team_id, link.id, now, every,
    )  # fmt: skip


async def delete(tx: Tx, team_id: int, id_: UUID) -> str | None:
    """Delete a link; return its name, None if there is none."""
    name: str | None = await tx.fetchval(
        "DELETE FROM wall_links WHERE team_id = $1 AND id = $2 RETURNING name", team_id, id_
    )
    return name
