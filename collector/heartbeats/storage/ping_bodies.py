"""Bodies of pings, stored beside their results."""

from collections.abc import Sequence
from datetime import datetime

from collector.platform.storage.db import Tx


async def keep(tx: Tx, bodies: Sequence[tuple[int, datetime, int, str]]) -> None:
    """Store (monitor, ts, n of the result, text)."""
    await tx.execute(
        """
        INSERT INTO ping_bodies (monitor, ts, n, body)
        SELECT * FROM unnest($1::int[], $2::timestamptz[], $3::smallint[], $4::text[])
        ON CONFLICT DO NOTHING
        """,
        [monitor for monitor, _, _, _ in bodies],
        [ts for _, ts, _, _ in bodies],
        [n for _, _, n, _ in bodies],
        [body for _, _, _, body in bodies],
    )


async def between(tx: Tx, monitor: int, since: datetime, until: datetime) -> dict[tuple[datetime, int], str]:
    """Return the bodies of pings of that time, by the time and n of their results."""
    rows = await tx.fetch(
        "SELECT ts, n, body FROM ping_bodies WHERE monitor = $1 AND ts BETWEEN $2 AND $3",
        monitor,
        since,
        until,
    )
    return {(row["ts"], row["n"]): row["body"] for row in rows}


async def forget_of(tx: Tx, monitors: Sequence[int], limit: int) -> int:
    """Delete some bodies of these monitors; return how many."""
    tag = await tx.execute(
        """
        DELETE FROM ping_bodies WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM ping_bodies WHERE monitor = ANY($1) LIMIT $2
        ))
        """,
        monitors,
        limit,
    )
    return int(tag.split()[-1])
