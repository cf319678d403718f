"""Teams, which own all else."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.platform.bucket import PlanName
from collector.platform.storage.db import Tx

COLUMNS: Final = "team_id, id, name, plan, created_at, two_factor_required"


@dataclass(frozen=True, slots=True)
class Team:
    team_id: int
    id: UUID
    name: str
    plan: PlanName
    created_at: datetime
    two_factor_required: bool = False


async def get(tx: Tx, team_id: int) -> Team | None:
    row = await tx.fetchrow(f"SELECT {COLUMNS} FROM teams WHERE team_id = $1", team_id)
    return Team(**row) if row else None


async def hold(tx: Tx, team_id: int) -> Team | None:
    """Return the team, locked against changes until the end of the transaction."""
    row = await tx.fetchrow(f"SELECT {COLUMNS} FROM teams WHERE team_id = $1 FOR NO KEY UPDATE", team_id)
    return Team(**row) if row else None
