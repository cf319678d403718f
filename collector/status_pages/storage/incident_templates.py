"""Templates of incidents on status pages."""

from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.status_pages.core.status_page import Phase, Severity, Status


@dataclass(frozen=True, slots=True)
class IncidentTemplate:
    """A template; *title* and *message* may have variables."""

    team_id: int
    id: UUID
    name: str
    title: str
    status: Phase
    severity: Severity
    component_status: Status | None
    message: str
    created_at: datetime
    updated_at: datetime


_NAMES = [field.name for field in fields(IncidentTemplate)]
_COLUMNS = ", ".join(_NAMES)


async def of_team(tx: Tx, team_id: int, limit: int | None, offset: int) -> list[IncidentTemplate]:
    """Return templates by name."""
    rows = await tx.fetch(
        f"""
        SELECT {_COLUMNS} FROM incident_templates WHERE team_id = $1
        ORDER BY lower(name), id LIMIT $2 OFFSET $3
        """,
        team_id, limit, offset,
    )  # fmt: skip
    return [IncidentTemplate(**row) for row in rows]


async def count(tx: Tx, team_id: int) -> int:
    total: int = await tx.fetchval("SELECT count(*) FROM incident_templates WHERE team_id = $1", team_id)
    return total


async def get(tx: Tx, team_id: int, id_: UUID) -> IncidentTemplate | None:
    row = await tx.fetchrow(
        f"SELECT {_COLUMNS} FROM incident_templates WHERE team_id = $1 AND id = $2", team_id, id_
    )
    return IncidentTemplate(**row) if row else None


async def lock(tx: Tx, team_id: int, id_: UUID) -> IncidentTemplate | None:
    """Return the template, locked until the transaction ends."""
    row = await tx.fetchrow(
        f"SELECT {_COLUMNS} FROM incident_templates WHERE team_id = $1 AND id = $2 FOR UPDATE", team_id, id_
    )
    return IncidentTemplate(**row) if row else None


async def insert(tx: Tx, template: IncidentTemplate) -> None:
    """Insert a template. Raises UniqueViolationError if the team has one of its name."""
    places = ", ".join(f"${place}" for place in range(1, len(_NAMES) + 1))
    await tx.execute(
        f"INSERT INTO incident_templates ({_COLUMNS}) VALUES ({places})",
        *(getattr(template, name) for name in _NAMES),
    )


async def save(tx: Tx, template: IncidentTemplate) -> None:
    """Save a template. Raises UniqueViolationError if the team has another one of its name."""
    await tx.execute(
        """
        UPDATE incident_templates SET name = $3, title = $4, status = $5, severity = $6,
            component_status = $7, message = $8, updated_at = $9
        WHERE team_id = $1 AND id = $2
        """,
        template.team_id, template.id, template.name, template.title, template.status, template.severity,
        template.component_status, template.message, template.updated_at,
    )  # fmt: skip


async def delete(tx: Tx, team_id: int, id_: UUID) -> str | None:
    """Delete a template; return its name, None if there is none."""
    name: str | None = await tx.fetchval(
        "DELETE FROM incident_templates WHERE team_id = $1 AND id = $2 RETURNING name", team_id, id_
    )
    return name
