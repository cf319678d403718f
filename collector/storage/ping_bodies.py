"""What pings brought with them, kept beside their results."""

from collections.abc import Sequence
from datetime import datetime

from collector.storage.db import Tx


async def keep(tx: Tx, bodies: Sequence[tuple[int, datetime, int, str]]) -> None:
    """(monitor, ts, n of the result, text)."""
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
    """What the pings of that time brought, by the time and the n of their results."""
    rows = await tx.fetch(
        "SELECT ts, n, body FROM ping_bodies WHERE monitor = $1 AND ts BETWEEN $2 AND $3",
        monitor,
        since,
        until,
    )
    return {(row["ts"], row["n"]): row["body"] for row in rows}


async def forget(tx: Tx, before: datetime, limit: int) -> int:
    """Let go of some from before *before*; how many it were."""
    tag = await tx.execute(
        """
        DELETE FROM ping_bodies WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM ping_bodies WHERE ts < $1 ORDER BY ts LIMIT $2
        ))
        """,
        before,
        limit,
    )
    return int(tag.split()[-1])


async def gone(tx: Tx, after: int, limit: int) -> tuple[list[int], int | None]:
    """Of the next monitors after *after* that have any, those that are gone; None when no more follow."""
    rows = await tx.fetch(
        """
        WITH RECURSIVE there (monitor) AS (
            SELECT (SELECT min(monitor) FROM ping_bodies WHERE monitor > $1)
            UNION ALL
            SELECT (SELECT min(b.monitor) FROM ping_bodies b WHERE b.monitor > there.monitor)
            FROM there WHERE there.monitor IS NOT NULL
        ), next AS (SELECT monitor FROM there WHERE monitor IS NOT NULL LIMIT $2)
        SELECT next.monitor, m.monitor IS NULL AS gone FROM next LEFT JOIN monitors m USING (monitor)
        ORDER BY next.monitor
        """,
        after,
        limit,
    )
    there = [row["monitor"] for row in rows]
    return [row["monitor"] for row in rows if row["gone"]], there[-1] if len(there) == limit else None


async def forget_of(tx: Tx, monitors: Sequence[int], limit: int) -> int:
    """Let go of some of these monitors'; how many it were."""
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
