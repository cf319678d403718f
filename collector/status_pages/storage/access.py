"""How visitors enter private status pages besides the password."""

from dataclasses import fields
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.status_pages.core.access import PageAccess

_COLUMNS = [field.name for field in fields(PageAccess)]


async def get(tx: Tx, team_id: int, page_id: UUID) -> PageAccess:
    """Return the settings of a page; of a page without any, empty ones."""
    row = await tx.fetchrow(
        f"SELECT {', '.join(_COLUMNS)} FROM status_page_access WHERE team_id = $1 AND page_id = $2",
        team_id,
        page_id,
    )
    return PageAccess(**row) if row else PageAccess()


async def put(tx: Tx, team_id: int, page_id: UUID, access: PageAccess, now: datetime) -> None:
    """Replace the settings of a page."""
    places = ", ".join(f"${place}" for place in range(4, len(_COLUMNS) + 4))
    await tx.execute(
        f"""
        INSERT INTO status_page_access (team_id, page_id, updated_at, {", ".join(_COLUMNS)})
        VALUES ($1, $2, $3, {places})
        ON CONFLICT (team_id, page_id) DO UPDATE SET updated_at = excluded.updated_at,
            {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS)}
        """,
        team_id,
        page_id,
        now,
        *(getattr(access, name) for name in _COLUMNS),
    )
