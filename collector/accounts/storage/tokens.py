"""API tokens; only the SHA-256 of each is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.access import Permission
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its user."""

    team_id: int
    id: UUID
    user_id: UUID
    user_name: str
    plan: str
    permission: Permission
    hash: bytes
    expires_at: datetime | None
    revoked_at: datetime | None


async def with_hashes(tx: Tx, hashes: Sequence[bytes]) -> dict[bytes, Token]:
    """Return the tokens whose values hash to one of *hashes*, expired and revoked ones included."""
    rows = await tx.fetch(_WITH_HASHES, hashes)
    return {row["hash"]: Token(**{**row, "permission": Permission(row["permission"])}) for row in rows}


_WITH_HASHES = """
    SELECT t.team_id, t.id, t.user_id, u.name AS user_name, m.plan, t.permission, t.hash, t.expires_at,
        t.revoked_at
    FROM tokens t JOIN users u USING (team_id) JOIN teams m USING (team_id)
    WHERE t.hash = ANY($1) AND u.id = t.user_id
"""


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token as users see it; *hint*: the first characters of its value."""

    id: UUID
    name: str
    permission: Permission
    hint: str
    created_at: datetime
    expires_at: datetime | None
    user_id: UUID
    user_name: str


async def page(tx: Tx, team_id: int, limit: int | None, offset: int) -> tuple[list[ListedToken], int]:
    """Return a page of tokens that were not revoked, newest first, and their number."""
    rows = await tx.fetch(
        """
        SELECT t.id, t.name, t.permission, t.hint, t.created_at, t.expires_at, t.user_id, u.name AS user_name
        FROM tokens t JOIN users u ON u.team_id = t.team_id AND u.id = t.user_id
        WHERE t.team_id = $1 AND t.revoked_at IS NULL
        ORDER BY t.created_at DESC, t.id DESC LIMIT $2 OFFSET $3
        """,
        team_id, limit, offset,
    )  # fmt: skip
    total: int = await tx.fetchval(
        "SELECT count(*) FROM tokens WHERE team_id = $1 AND revoked_at IS NULL", team_id
    )
    return [ListedToken(**{**row, "permission": Permission(row["permission"])}) for row in rows], total


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
    hint: str = "",
) -> None:
    await tx.execute(
        """
        INSERT INTO tokens (team_id, id, user_id, name, permission, hash, created_at, expires_at, hint)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """,
        team_id, id_, user_id, name, permission.value, hash_, now, expires_at, hint,
    )  # fmt: skip


async def revoke(tx: Tx, team_id: int, id_: UUID, now: datetime) -> str | None:
    """Revoke a token and return its name; None if there was none to revoke."""
    name: str | None = await tx.fetchval(
        """
        UPDATE tokens SET revoked_at = $3 WHERE team_id = $1 AND id = $2 AND revoked_at IS NULL
        RETURNING name
        """,
        team_id, id_, now,
    )  # fmt: skip
    return name


async def lower(tx: Tx, team_id: int, user_id: UUID, above: Sequence[Permission], most: Permission) -> None:
    """Lower a user's tokens with a permission of *above* to *most*."""
    await tx.execute(
        """
        UPDATE tokens SET permission = $4
        WHERE team_id = $1 AND user_id = $2 AND permission = ANY($3::text[])
        """,
        team_id, user_id, [each.value for each in above], most.value,
    )  # fmt: skip
