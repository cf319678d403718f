"""The authenticator apps of users, and the hashes of their recovery codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.storage import second_factor
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """An app; *confirmed_at* is None until its first code, *last_step* that of the newest accepted code."""

    sealed_secret: bytes
    confirmed_at: datetime | None
    last_step: int


async def lock_user(tx: Tx, team_id: int, user_id: UUID) -> None:
    """Lock the user until the transaction ends: their second factors are changed one after another."""
    await tx.execute("SELECT FROM users WHERE team_id = $1 AND id = $2 FOR NO KEY UPDATE", team_id, user_id)


async def lock(tx: Tx, team_id: int, user_id: UUID) -> SecondFactor | None:
    """Return the user's second factor, locked, so that no code is accepted twice."""
    row = await tx.fetchrow(
        """
        SELECT sealed_secret, confirmed_at, last_step FROM two_factor
        WHERE team_id = $1 AND user_id = $2 FOR UPDATE
        """,
        team_id, user_id,
    )  # fmt: skip
    return SecondFactor(**row) if row else None


async def begin(tx: Tx, team_id: int, user_id: UUID, sealed_secret: bytes, now: datetime) -> bool:
    """Keep a secret that is not confirmed yet; False if a confirmed one is there."""
    done = await tx.execute(
        """
        INSERT INTO two_factor AS t (team_id, user_id, sealed_secret, created_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (team_id, user_id) DO UPDATE
        SET sealed_secret = excluded.sealed_secret, created_at = excluded.created_at
        WHERE t.confirmed_at IS NULL
        """,
        team_id, user_id, sealed_secret, now,
    )  # fmt: skip
    return done != "INSERT 0 0"


async def confirm(tx: Tx, team_id: int, user_id: UUID, now: datetime) -> None:
    """From now on the second factor is asked for."""
    await tx.execute(
        "UPDATE two_factor SET confirmed_at = $3 WHERE team_id = $1 AND user_id = $2", team_id, user_id, now
    )


async def accept(tx: Tx, team_id: int, user_id: UUID, step: int) -> None:
    """Record the step of an accepted code, which no later sign-in may use."""
    await tx.execute(
        "UPDATE two_factor SET last_step = $3 WHERE team_id = $1 AND user_id = $2", team_id, user_id, step
    )


async def delete(tx: Tx, team_id: int, user_id: UUID) -> bool:
    """Delete the secret of the user's app; False if there was none."""
    done = await tx.execute("DELETE FROM two_factor WHERE team_id = $1 AND user_id = $2", team_id, user_id)
    return done != "DELETE 0"


async def confirmed_at(tx: Tx, team_id: int, user_id: UUID) -> datetime | None:
    """Return since when codes of the user's app are asked for; None if they are not."""
    moment: datetime | None = await tx.fetchval(
        "SELECT confirmed_at FROM two_factor WHERE team_id = $1 AND user_id = $2", team_id, user_id
    )
    return moment


async def has_any(tx: Tx, team_id: int, user_id: UUID) -> bool:
    """Whether the user has a second factor of any kind."""
    any_: bool = await tx.fetchval(
        f"SELECT EXISTS (SELECT FROM ({second_factor.OWNERS}) o WHERE o.team_id = $1 AND o.user_id = $2)",
        team_id,
        user_id,
    )
    return any_


async def users_with_any(tx: Tx, team_id: int) -> set[UUID]:
    """Return the users of the team who have a second factor of any kind."""
    rows = await tx.fetch(f"SELECT user_id FROM ({second_factor.OWNERS}) o WHERE o.team_id = $1", team_id)
    return {row["user_id"] for row in rows}


async def replace_recovery_codes(tx: Tx, team_id: int, user_id: UUID, hashes: Sequence[bytes]) -> None:
    """Replace all recovery codes of the user."""
    await tx.execute("DELETE FROM recovery_codes WHERE team_id = $1 AND user_id = $2", team_id, user_id)
    await tx.execute(
        "INSERT INTO recovery_codes (team_id, user_id, hash) SELECT $1, $2, unnest($3::bytea[])",
        team_id, user_id, hashes,
    )  # fmt: skip


async def use_recovery_code(tx: Tx, team_id: int, user_id: UUID, hash_: bytes) -> bool:
    """Delete the recovery code with this hash; False if the user has none such."""
    done = await tx.execute(
        "DELETE FROM recovery_codes WHERE team_id = $1 AND user_id = $2 AND hash = $3",
        team_id,
        user_id,
        hash_,
    )
    return done != "DELETE 0"


async def recovery_codes_left(tx: Tx, team_id: int, user_id: UUID) -> int:
    """Return how many recovery codes the user has not used."""
    left: int = await tx.fetchval(
        "SELECT count(*) FROM recovery_codes WHERE team_id = $1 AND user_id = $2", team_id, user_id
    )
    return left
