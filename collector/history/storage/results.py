"""Inserts results by COPY into the partition of their day."""

from collections.abc import AsyncIterator, Sequence

from collector.platform.storage.db import Tx

COLUMNS = ("ts", "monitor", "ms", "error", "location", "n", "run", "status", "code", "phases")

_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"


async def copy(tx: Tx, rows: Sequence[bytes]) -> None:
    """Append rows in PostgreSQL's binary COPY format, with the fields of COLUMNS."""

    async def source() -> AsyncIterator[bytes]:
        yield _HEADER + b"".join(rows) + _TRAILER

    await tx.copy_to_table("results", source=source(), columns=COLUMNS, format="binary")


async def stored(
    tx: Tx, monitor: Sequence[int], location: Sequence[int], at_ms: Sequence[int], n: Sequence[int]
) -> set[int]:
    """Return the positions in these columns of results that are stored already."""
    rows = await tx.fetch(
        """
        SELECT u.place FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[])
            WITH ORDINALITY AS u (monitor, location, at_ms, n, place)
        CROSS JOIN LATERAL (SELECT 'epoch'::timestamptz + u.at_ms * interval '1 millisecond' AS ts) at
        CROSS JOIN LATERAL results_of(
            -- A number that no column holds is one of no result.
            CASE WHEN u.monitor BETWEEN 0 AND 2147483647 THEN u.monitor::int END,
            CASE WHEN u.location BETWEEN 0 AND 32767 THEN u.location::smallint END,
            at.ts, at.ts + interval '1 millisecond'
        ) r
        WHERE r.n = u.n
        """,
        monitor,
        location,
        at_ms,
        n,
    )
    return {row["place"] - 1 for row in rows}


async def try_copy(tx: Tx, rows: Sequence[bytes]) -> None:
    """Write rows and roll back; raises PostgreSQL's error."""
    trial = tx.transaction()
    await trial.start()
    try:
        await copy(tx, rows)
    finally:
        await trial.rollback()
