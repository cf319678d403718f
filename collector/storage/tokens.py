"""API tokens: only the SHA-256 of each is kept."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.core.access import Permission
from collector.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Token:
    """A token and whose it is."""

    team_id: int
    id: UUID
    user_id: UUID
    user_name: str
    permission: Permission
    hash: bytes
    expires_at: datetime | None
    revoked_at: datetime | None


async def with_hash(tx: Tx, hash_: bytes) -> Token | None:
    """The token whose value hashes to *hash_*, dead or alive."""
    row = await tx.fetchrow(
        """
        SELECT t.team_id, t.id, t.user_id, u.name AS user_name, t.permission, t.hash,
               t.expires_at, t.revoked_at
        FROM tokens t JOIN users u USING (team_id)
        WHERE t.hash = $1 AND u.id = t.user_id
        """,
        hash_,
    )
    return None if row is None else Token(**{**row, "permission": Permission(row["permission"])})


async def insert(
    tx: Tx,
    team_id: int,
    id_: UUID,
    user_id: UUID,
    name: str,
    permission: Permission,
    hash_: bytes,
    now: datetime,
    expires_at: datetime | None,
) -> None:
    await tx.execute(
        """
        INSERT INTO tokens (team_id, id, user_id, name, permission, hash, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """,
        team_id, id_, user_id, name, permission.value, hash_, now, expires_at,
    )  # fmt: skip
