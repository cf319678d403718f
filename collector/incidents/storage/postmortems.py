"""Post-mortems that people wrote."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Postmortem:
    """*revision* rises with each change; *updated_by*: the name of its last author."""

    text: str
    revision: int
    updated_by: str
    updated_at: datetime


async def get(tx: Tx, team_id: int, incident_id: UUID) -> Postmortem | None:
    row = await tx.fetchrow(
        """
        SELECT text, revision, updated_by, updated_at FROM postmortems
        WHERE team_id = $1 AND incident_id = $2
        """,
        team_id,
        incident_id,
    )
    return Postmortem(**row) if row else None


async def save(
    tx: Tx, team_id: int, incident_id: UUID, text: str, revision: int, author: str, now: datetime
) -> bool:
    """Write the text over that of *revision*, 0 for none; False if it has another revision meanwhile."""
    if revision == 0:
        saved = await tx.fetchval(
            """
            INSERT INTO postmortems (team_id, incident_id, text, updated_by, updated_at)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING true
            """,
            team_id,
            incident_id,
            text,
            author,
            now,
        )
        return bool(saved)
    saved = await tx.fetchval(
        """
        UPDATE postmortems SET text = $3, updated_by = $4, updated_at = $5, revision = revision + 1
        WHERE team_id = $1 AND incident_id = $2 AND revision = $6 RETURNING true
        """,
        team_id,
        incident_id,
        text,
        author,
        now,
        revision,
    )
    return bool(saved)


async def delete(tx: Tx, team_id: int, incident_id: UUID) -> bool:
    """Delete the text; False if there is none."""
    return bool(
        await tx.fetchval(
            "DELETE FROM postmortems WHERE team_id = $1 AND incident_id = $2 RETURNING true",
            team_id,
            incident_id,
        )
    )
