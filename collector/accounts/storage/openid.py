"""Users that sign in by a provider: they accept an invitation without a password."""

from uuid import UUID

from collector.platform.storage.db import Tx


async def join(tx: Tx, team_id: int, user_id: UUID) -> None:
    """End the invitation; a user without a password signs in by the provider from now on."""
    await tx.execute(
        "UPDATE users SET invitation = NULL, invited_until = NULL WHERE team_id = $1 AND id = $2",
        team_id, user_id,
    )  # fmt: skip
