"""Links by which people set a password: only the SHA-256 of each one's secret is kept."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Linked:
    """Whose link it is, and when it ends."""

    team_id: int
    user_id: UUID
    email: str
    name: str
    until: datetime


async def put(tx: Tx, team_id: int, user_id: UUID, hash_: bytes, now: datetime, until: datetime) -> None:
    """The user's link from now on; an earlier one ends."""
    await tx.execute(
        """
        INSERT INTO password_links (team_id, user_id, hash, until, sent_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (team_id, user_id) DO UPDATE SET hash = $3, until = $4, sent_at = $5
        """,
        team_id, user_id, hash_, until, now,
    )  # fmt: skip


async def sent_at(tx: Tx, team_id: int, user_id: UUID) -> datetime | None:
    """When the user's link was made, if there is one."""
    found: datetime | None = await tx.fetchval(
        "SELECT sent_at FROM password_links WHERE team_id = $1 AND user_id = $2", team_id, user_id
    )
    return found


async def with_hash(tx: Tx, hash_: bytes) -> Linked | None:
    """Whose secret hashes to *hash_*; who uses it at the same time waits."""
    row = await tx.fetchrow(
        """
        SELECT l.team_id, l.user_id, u.email, u.name, l.until
        FROM password_links l JOIN users u ON u.team_id = l.team_id AND u.id = l.user_id
        WHERE l.hash = $1 FOR UPDATE OF l
        """,
        hash_,
    )
    return Linked(**row) if row else None


async def drop(tx: Tx, team_id: int, user_id: UUID) -> None:
    await tx.execute("DELETE FROM password_links WHERE team_id = $1 AND user_id = $2", team_id, user_id)
