"""Times in which some collector ran: one row a start, updated while it lives."""

from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx


async def keep(tx: Tx, collector: UUID, since: datetime, until: datetime) -> None:
    """Record that this collector listens until then; a clock that was set back shortens nothing."""
    await tx.execute(
        """
        INSERT INTO listening AS l (collector, since, until) VALUES ($1, least($2, $3::timestamptz), $3)
        ON CONFLICT (collector) DO UPDATE SET until = greatest(l.until, excluded.until)
        """,
        collector,
        since,
        until,
    )


async def between(tx: Tx, since: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """The spans of listening that touch the span, in any order; they may overlap."""
    rows = await tx.fetch(
        "SELECT since, until FROM listening WHERE until >= $1 AND since <= $2", since, until
    )
    return [(row["since"], row["until"]) for row in rows]
