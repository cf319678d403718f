"""Results as they come in: written by COPY, a day's partition taking each."""

from collections.abc import AsyncIterator, Sequence

from collector.storage.db import Tx

COLUMNS = ("ts", "monitor", "ms", "error", "location", "n", "run", "status", "code", "phases")

_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"


async def copy(tx: Tx, rows: Sequence[bytes]) -> None:
    """Append rows that are in PostgreSQL's binary COPY format, their fields in the order of COLUMNS."""

    async def source() -> AsyncIterator[bytes]:
        yield _HEADER + b"".join(rows) + _TRAILER

    await tx.copy_to_table("results", source=source(), columns=COLUMNS, format="binary")


async def try_copy(tx: Tx, rows: Sequence[bytes]) -> None:
    """Write rows and take them back again; raises what PostgreSQL has against them."""
    trial = tx.transaction()
    await trial.start()
    try:
        await copy(tx, rows)
    finally:
        await trial.rollback()
