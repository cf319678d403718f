"""Teams and the addresses of their users."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.access import Role
from collector.platform.bucket import PlanName
from collector.platform.storage.db import Tx
from collector.platform.storage.teams import COLUMNS, Team


@dataclass(frozen=True, slots=True)
class TeamMember:
    """A user and their team."""

    id: UUID
    email: str
    name: str
    role: Role
    team: UUID
    team_name: str
    plan: PlanName


async def save(tx: Tx, team: Team) -> None:
    """Write the columns that the team's admins may change."""
    await tx.execute(
        "UPDATE teams SET name = $2, two_factor_required = $3 WHERE team_id = $1",
        team.team_id, team.name, team.two_factor_required,
    )  # fmt: skip


async def all_(tx: Tx) -> list[Team]:
    """Every team of the deployment, oldest first."""
    rows = await tx.fetch(f"SELECT {COLUMNS} FROM teams ORDER BY team_id")
    return [Team(**row) for row in rows]


async def lock(tx: Tx) -> None:
    """Block other creators of teams; readers do not wait, nor do rows that refer to a team."""
    await tx.execute("LOCK TABLE teams IN SHARE ROW EXCLUSIVE MODE")


async def exist(tx: Tx) -> bool:
    """Whether there is any team."""
    return bool(await tx.fetchval("SELECT EXISTS (SELECT FROM teams)"))


async def count(tx: Tx) -> int:
    total: int = await tx.fetchval("SELECT count(*) FROM teams")
    return total


async def insert(tx: Tx, id_: UUID, name: str, plan: str, now: datetime) -> int:
    """Insert a team and return its number."""
    number: int = await tx.fetchval(
        "INSERT INTO teams (id, name, plan, created_at) VALUES ($1, $2, $3, $4) RETURNING team_id",
        id_, name, plan, now,
    )  # fmt: skip
    return number


async def insert_user(
    tx: Tx, team_id: int, id_: UUID, email: str, name: str, role: str, now: datetime
) -> None:
    await tx.execute(
        "INSERT INTO users (team_id, id, email, name, role, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        team_id, id_, email, name, role, now,
    )  # fmt: skip


async def person(tx: Tx, team_id: int, user_id: UUID) -> TeamMember | None:
    row = await tx.fetchrow(
        """
        SELECT u.id, u.email, u.name, u.role, t.id AS team, t.name AS team_name, t.plan
        FROM users u JOIN teams t USING (team_id)
        WHERE team_id = $1 AND u.id = $2
        """,
        team_id, user_id,
    )  # fmt: skip
    return TeamMember(**row) if row else None
