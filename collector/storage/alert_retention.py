"""Alerts that are kept no longer."""

from datetime import datetime

from collector.storage.db import Tx


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Delete some alerts that were over before *before*; how many.

    Not those of open incidents: by them it is known whom the incident woke. Nor those that are still to be
    looked at, for they keep their rule from firing.
    """
    tag = await tx.execute(
        """
        DELETE FROM alerts WHERE ctid = ANY(ARRAY(
            SELECT a.ctid FROM alerts a
            WHERE a.status = 'recovered' AND a.recovered_at < $1 AND a.due_at IS NULL AND NOT EXISTS (
                SELECT FROM incidents i
                WHERE i.team_id = a.team_id AND i.id = a.incident_id AND i.status <> 'resolved'
            )
            LIMIT $2 FOR UPDATE OF a SKIP LOCKED
        ))
        """,
        before,
        limit,
    )
    return int(tag.split()[-1])
