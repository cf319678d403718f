"""Passkeys of users, and the challenges that were answered."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx

_COLUMNS = "team_id, id, user_id, name, credential_id, public_key, sign_count, created_at, last_used_at"


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey; *public_key*: SubjectPublicKeyInfo in DER, *last_used_at* None: it has never signed in."""

    team_id: int
    id: UUID
    user_id: UUID
    name: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    created_at: datetime
    last_used_at: datetime | None = None


async def insert(tx: Tx, passkey: Passkey) -> bool:
    """Keep a new passkey; False if the team has one with its credential already."""
    done = await tx.execute(
        """
        INSERT INTO passkeys
            (team_id, id, user_id, name, credential_id, public_key, sign_count, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
        """,
        passkey.team_id, passkey.id, passkey.user_id, passkey.name, passkey.credential_id,
        passkey.public_key, passkey.sign_count, passkey.created_at,
    )  # fmt: skip
    return done == "INSERT 0 1"


async def of_user(tx: Tx, team_id: int, user_id: UUID) -> list[Passkey]:
    """Return the user's passkeys, oldest first."""
    rows = await tx.fetch(
        f"SELECT {_COLUMNS} FROM passkeys WHERE team_id = $1 AND user_id = $2 ORDER BY created_at, id",
        team_id,
        user_id,
    )
    return [Passkey(**row) for row in rows]


async def lock(tx: Tx, team_id: int, user_id: UUID, credential_id: bytes) -> Passkey | None:
    """Return the user's passkey with this credential, locked, so that no counter is accepted twice."""
    row = await tx.fetchrow(
        f"""
        SELECT {_COLUMNS} FROM passkeys
        WHERE team_id = $1 AND user_id = $2 AND credential_id = $3 FOR UPDATE
        """,
        team_id, user_id, credential_id,
    )  # fmt: skip
    return Passkey(**row) if row else None


async def use(tx: Tx, passkey: Passkey, sign_count: int, now: datetime) -> None:
    """Record an accepted answer: its counter, and when it came."""
    await tx.execute(
        "UPDATE passkeys SET sign_count = $3, last_used_at = $4 WHERE team_id = $1 AND id = $2",
        passkey.team_id, passkey.id, sign_count, now,
    )  # fmt: skip


async def delete(tx: Tx, team_id: int, user_id: UUID, id_: UUID) -> str | None:
    """Delete a passkey of the user; return its name, None if there is none."""
    name: str | None = await tx.fetchval(
        "DELETE FROM passkeys WHERE team_id = $1 AND user_id = $2 AND id = $3 RETURNING name",
        team_id, user_id, id_,
    )  # fmt: skip
    return name


async def delete_all(tx: Tx, team_id: int, user_id: UUID) -> bool:
    """Delete all passkeys of the user; False if there were none."""
    done = await tx.execute("DELETE FROM passkeys WHERE team_id = $1 AND user_id = $2", team_id, user_id)
    return done != "DELETE 0"


async def use_challenge(tx: Tx, team_id: int, hash_: bytes, ends_at: datetime, now: datetime) -> bool:
    """Record that a challenge was answered, and forget the team's expired ones; False if it was before."""
    await tx.execute("DELETE FROM used_challenges WHERE team_id = $1 AND ends_at < $2", team_id, now)
    done = await tx.execute(
        """
        INSERT INTO used_challenges (team_id, hash, ends_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
        """,
        team_id, hash_, ends_at,
    )  # fmt: skip
    return done == "INSERT 0 1"
