"""Monitors with a query in their URL, which earlier versions stored in plain text."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class WithQuery:
    """A monitor; *config*: the unsealed part of its configuration."""

    monitor: int
    team_id: int
    id: UUID
    type: str
    config: dict[str, Any]


async def after(tx: Tx, monitor: int, limit: int) -> list[WithQuery]:
    """Return the next monitors after a number."""
    rows = await tx.fetch(
        """
        SELECT monitor, team_id, id, type, config FROM monitors
        WHERE monitor > $1 AND type IN ('http', 'websocket') AND config ->> 'url' LIKE '%?%'
        ORDER BY monitor LIMIT $2
        """,
        monitor,
        limit,
    )
    return [WithQuery(**row) for row in rows]


async def save(tx: Tx, team_id: int, id_: UUID, config: dict[str, Any], secrets: bytes | None) -> None:
    """Write the same configuration with other parts sealed; its revision stays."""
    await tx.execute(
        "UPDATE monitors SET config = $3, secrets = $4 WHERE team_id = $1 AND id = $2",
        team_id,
        id_,
        config,
        secrets,
    )
