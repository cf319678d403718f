"""Join tokens: the SHA-256 of each secret, and the keys that used it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class JoinTokenRow:
    """*team_id* None: its probes serve every team. *used* counts the keys that used it."""

    id: UUID
    team_id: int | None
    locations: Sequence[str]
    may_stand_in: bool
    uses: int
    used: int
    created_at: datetime
    expires_at: datetime


_COLUMNS = """
    id, team_id, locations, may_stand_in, uses, created_at, expires_at,
    (SELECT count(*) FROM join_token_uses u WHERE u.token_id = t.id) AS used
"""


async def insert(tx: Tx, token: JoinTokenRow, hash_: bytes, authority: bytes) -> None:
    await tx.execute(
        """
        INSERT INTO join_tokens
            (id, team_id, hash, authority, locations, may_stand_in, uses, created_at, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """,
        token.id, token.team_id, hash_, authority, list(token.locations), token.may_stand_in, token.uses,
        token.created_at, token.expires_at,
    )  # fmt: skip


async def lock(tx: Tx, hash_: bytes) -> JoinTokenRow | None:
    """Lock the token whose secret hashes to *hash_*; concurrent users wait."""
    id_ = await tx.fetchval("SELECT id FROM join_tokens WHERE hash = $1 FOR UPDATE", hash_)
    # Counted in a separate statement, so that it sees what was committed while this one waited.
    row = await tx.fetchrow(f"SELECT {_COLUMNS} FROM join_tokens t WHERE id = $1", id_)
    return JoinTokenRow(**row) if row else None


async def used_by(tx: Tx, id_: UUID, key_hash: bytes) -> bool:
    """Whether the token was used with this key."""
    return bool(
        await tx.fetchval(
            "SELECT EXISTS (SELECT FROM join_token_uses WHERE token_id = $1 AND key_hash = $2)", id_, key_hash
        )
    )


async def use(tx: Tx, id_: UUID, key_hash: bytes, now: datetime) -> None:
    await tx.execute(
        "INSERT INTO join_token_uses (token_id, key_hash, used_at) VALUES ($1, $2, $3)", id_, key_hash, now
    )


async def of_team(tx: Tx, team_id: int) -> list[JoinTokenRow]:
    """The team's tokens, newest first."""
    rows = await tx.fetch(
        f"SELECT {_COLUMNS} FROM join_tokens t WHERE team_id = $1 ORDER BY created_at DESC, id DESC", team_id
    )
    return [JoinTokenRow(**row) for row in rows]


async def delete(tx: Tx, team_id: int, id_: UUID) -> bool:
    """Delete the token. Return whether it existed."""
    done = await tx.execute("DELETE FROM join_tokens WHERE team_id = $1 AND id = $2", team_id, id_)
    return bool(done == "DELETE 1")


async def sweep(tx: Tx, before: datetime) -> None:
    """Delete tokens that expired by *before*."""
    await tx.execute("DELETE FROM join_tokens WHERE expires_at < $1", before)


async def end_used_by(tx: Tx, probe_id: UUID, now: datetime) -> None:
    """Invalidate the tokens with which the probe joined."""
    await tx.execute(
        """
        UPDATE join_tokens t SET expires_at = least(t.expires_at, $2)
        FROM join_token_uses u JOIN probes p ON p.key_hash = u.key_hash
        WHERE u.token_id = t.id AND p.probe_id = $1
        """,
        probe_id,
        now,
    )
