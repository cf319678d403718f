"""The monitors that another monitor depends on."""

from collections.abc import Sequence
from uuid import UUID

from collector.platform.storage.db import Tx


async def hold(tx: Tx, team_id: int, wanted: Sequence[UUID]) -> set[UUID]:
    """Return the *wanted* monitors of the team, locked against deletion until the transaction ends."""
    rows = await tx.fetch(
        "SELECT id FROM monitors WHERE team_id = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE",
        team_id,
        list(wanted),
    )
    return {row["id"] for row in rows}
