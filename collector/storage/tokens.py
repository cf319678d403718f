"""API tokens: only the SHA-256 of each is kept."""

from collections.abc import Sequence
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


async def with_hashes(tx: Tx, hashes: Sequence[bytes]) -> dict[bytes, Token]:
    """The tokens whose values hash to one of *hashes*, dead or alive."""
    rows = await tx.fetch(_WITH_HASHES, hashes)
    return {row["hash"]: Token(**{**row, "permission": Permission(row["permission"])}) for row in rows}


_WITH_HASHES = """
    SELECT t.team_id, t.id, t.user_id, u.name AS user_name, t.permission, t.hash, t.expires_at, t.revoked_at
    FROM tokens t JOIN users u USING (team_id)
    WHERE t.hash = ANY($1) AND u.id = t.user_id
"""


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
